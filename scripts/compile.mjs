// Compiles TypeScript to dist/ without checking types: `npm run typecheck` does that, and a start should not wait for it.
import './services/runtime.mjs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { transformFile } from '@swc/core';
import { ROOT } from './services/paths.mjs';

const FOLDERS = ['src', 'workflows', 'activities', 'worker'];
const DIST = join(ROOT, 'dist');

/** @param {string} folder */
async function sourcesOf(folder) {
  const files = await readdir(join(ROOT, folder), { recursive: true });
  return files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !file.endsWith('.d.ts'))
    .map((file) => join(folder, file));
}

/** @param {string} source */
async function compile(source) {
  const target = join(DIST, source.replace(/\.ts$/, '.js'));
  const { code, map } = await transformFile(join(ROOT, source), {
    swcrc: false,
    configFile: join(ROOT, 'swc.config.json'),
    sourceFileName: source,
  });
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, `${code}\n//# sourceMappingURL=${target.split('/').at(-1)}.map\n`);
  if (map) await writeFile(`${target}.map`, map);
}

await rm(DIST, { recursive: true, force: true });
const sources = (await Promise.all(FOLDERS.map(sourcesOf))).flat();
await Promise.all(sources.map(compile));
