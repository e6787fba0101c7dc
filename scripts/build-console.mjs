// A step of `npm run build`: makes dist/console out of console/. What was made of the same sources before is copied, so that
// a change of the server alone costs no bundling.
import './services/runtime.mjs';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { sourceHash } from './services/build.mjs';
import { ROOT } from './services/paths.mjs';

const CACHE = join(ROOT, 'node_modules', '.cache', 'gantry', 'console');
const KEPT = 4;
/** Files and folders that determine the result: the console imports one file of the server. */
const SOURCES = ['console', 'src/crypto/secret-names.ts', 'scripts/build-console.mjs', 'package-lock.json'];
/** Size from which a file is compressed: smaller ones gain nothing. Fonts and pictures are compressed already. */
const COMPRESSED_FROM_BYTES = 1024;
const COMPRESSED = /\.(?:js|css|svg)$/;

/** Writes the compressed forms of each file beside it; the server sends them as they are. @param {string} folder */
async function compress(folder) {
  for (const name of await readdir(folder)) {
    const content = await readFile(join(folder, name));
    if (content.length < COMPRESSED_FROM_BYTES || !COMPRESSED.test(name)) continue;
    await writeFile(join(folder, `${name}.gz`), await promisify(gzip)(content, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
    await writeFile(join(folder, `${name}.br`), await promisify(brotliCompress)(content, { params }));
  }
}

/** @param {string} target */
async function bundle(target) {
  const { build } = await import('vite');
  // Each build writes into a folder of its own and renames it when it is complete, so that two builds of one clone don't
  // interfere.
  const draft = await mkdtemp(join(CACHE, 'draft-'));
  try {
    await build({ root: join(ROOT, 'console'), build: { outDir: draft, emptyOutDir: true }, logLevel: 'warn' });
    await compress(join(draft, 'assets'));
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another build of the same sources was faster.
    if (!existsSync(target)) throw error;
  }
}

async function forgetOldOnes() {
  const paths = (await readdir(CACHE)).filter((name) => !name.startsWith('draft-')).map((name) => join(CACHE, name));
  const byAge = await Promise.all(paths.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })));
  const old = byAge.sort((a, b) => b.at - a.at).slice(KEPT);
  await Promise.all(old.map(({ path }) => rm(path, { recursive: true, force: true })));
}

await mkdir(CACHE, { recursive: true });
const built = join(CACHE, sourceHash(SOURCES).slice(0, 16));
if (!existsSync(built)) await bundle(built);
const served = join(ROOT, 'dist', 'console');
await rm(served, { recursive: true, force: true });
await cp(built, served, { recursive: true });
await forgetOldOnes();
