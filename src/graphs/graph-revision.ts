import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const CODE = /\.([cm]?[jt]s|[jt]sx|json|py)$/;
/** A folder with more code than this contains more than graphs, so only the files that langgraph.json names are hashed. */
const MAX_FILES = 2_000;
const SHOWN_DIGITS = 12;
const NOT_OURS = new Set(['node_modules', '__pycache__']);

/**
 * Identifies a state of the graphs' code: a hash of langgraph.json and of the code below its folder, names
 * and contents, without installed packages and hidden folders. The same on every machine that has the same files.
 * @param files the modules that langgraph.json names; they may lie elsewhere
 */
export function graphRevision(configPath: string, files: string[]): string {
  const folder = dirname(configPath);
  const below = codeBelow(folder);
  const all = below.length > MAX_FILES ? [configPath] : below;
  const hash = createHash('sha256');
  for (const file of [...new Set([...all, ...files])].sort()) {
    hash
      .update(`${relative(folder, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex').slice(0, SHOWN_DIGITS);
}

function codeBelow(folder: string): string[] {
  const found: string[] = [];
  const folders = [folder];
  while (folders.length > 0 && found.length <= MAX_FILES) {
    const current = folders.pop()!;
    for (const entry of readdirSync(current, { withFileTypes: true })) {
      if (entry.name.startsWith('.') || NOT_OURS.has(entry.name)) continue;
      const path = join(current, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && CODE.test(entry.name)) found.push(path);
    }
  }
  return found;
}
