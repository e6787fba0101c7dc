import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PACKAGE_MISSING: ReadonlySet<unknown> = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

/**
 * Advice for an error of loading a module, as a sentence after its message; empty if the message suffices.
 * @param file of the graph
 */
export function loadAdvice(file: string, error: unknown): string {
  if (!(error instanceof Error)) return '';
  if (error.message.includes('Top-level await is currently not supported')) {
    return '. Set "type": "module" in the package.json of the project, or call the file .mts';
  }
  const folder = PACKAGE_MISSING.has((error as { code?: unknown }).code) ? pnpFolder(dirname(file)) : undefined;
  if (folder === undefined) return '';
  const setting = '"nodeLinker: node-modules" in .yarnrc.yml';
  return `. ${folder} was installed with yarn's Plug'n'Play, which Node.js can't load packages from: set ${setting} and run "yarn install"`;
}

function pnpFolder(folder: string): string | undefined {
  if (existsSync(join(folder, '.pnp.cjs'))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : pnpFolder(parent);
}
