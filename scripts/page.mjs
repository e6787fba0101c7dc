// Writes the generated pages of the documentation, or compares them with --check.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';

const ROOT = join(import.meta.dirname, '..');

/**
 * Writes a page. With --check among the arguments of the process it changes nothing, and makes the process fail when the page
 * isn't what it would write.
 * @param {string} path of the page below the repository's root
 * @param {string} markdown
 * @param {string} command by which the page is written
 */
export async function writePage(path, markdown, command) {
  const file = join(ROOT, path);
  const page = await format(markdown, { ...(await resolveConfig(file)), parser: 'markdown' });
  if (!process.argv.includes('--check')) writeFileSync(file, page);
  else if (readFileSync(file, 'utf8') !== page) {
    process.stderr.write(`${path} is not what the source says: run "${command}".\n`);
    process.exitCode = 1;
  }
}
