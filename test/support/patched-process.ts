import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const SOURCE = join(__dirname, '..', '..', 'src');
const required = (...path: string[]): string => `require(${JSON.stringify(join(SOURCE, ...path))})`;

/** Ways in which graphs load a module: what each is called, and the expression of a promise of the module. */
export const WAYS_TO_LOAD: [string, (name: string) => string][] = [
  ['CommonJS', (name) => `Promise.resolve(require('${name}'))`],
  ['an ES module', (name) => `import('${name}')`],
];

/**
 * Runs a script with patches of the sources of libraries, in a process of its own, since jest has a loader of its own. Node strips
 * the types of the patches.
 * @param patches name of each patch → its file below src/patches
 * @returns what the script prints, without the last line break
 */
export function printedWith(patches: Record<string, string>, script: string): string {
  const imports = Object.entries(patches).map(([name, file]) => `${required('patches', file)}.${name}`);
  const patched = `${required('graphs', 'host', 'patched-sources.ts')}.patchSources([${imports.join()}]);`;
  const options = { cwd: SOURCE, encoding: 'utf8', stdio: 'pipe' } as const;
  return execFileSync(process.execPath, ['-e', `${patched}\n${script}`], options).replace(/\n$/, '');
}
