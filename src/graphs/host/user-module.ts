import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { importTexts } from '../../patches/node/text-imports';

const TSX = dirname(require.resolve('tsx/package.json'));

const urlOf = (path: string): string => pathToFileURL(join(TSX, path)).href;

/** tsx's own entry points: each teaches one of Node's two module systems to load TypeScript in the thread that asks it to. */
export const TSX_APIS = { esm: urlOf('dist/esm/api/index.mjs'), commonJs: urlOf('dist/cjs/api/index.mjs') };

let learned: Promise<void> | undefined;

function learnTypeScript(file: string): Promise<void> {
  learned ??= (async () => {
    const tsconfig = tsconfigFor(file);
    // tsx's half for CommonJS takes it from the environment alone.
    const { TSX_TSCONFIG_PATH: before } = process.env;
    if (tsconfig !== undefined) process.env.TSX_TSCONFIG_PATH = tsconfig;
    for (const url of Object.values(TSX_APIS)) {
      const { register } = (await import(url)) as { register: () => void };
      register();
    }
    if (before !== undefined) process.env.TSX_TSCONFIG_PATH = before;
    else delete process.env.TSX_TSCONFIG_PATH;
    importTexts();
  })();
  return learned;
}

/**
 * The project's tsconfig.json, whose `paths` and `baseUrl` its imports follow: that of the working directory or above it, as
 * with `langgraph dev`. A project that has none there is read with the one nearest to the module.
 */
function tsconfigFor(file: string): string | undefined {
  return tsconfigAbove(process.cwd()) ?? tsconfigAbove(dirname(file));
}

function tsconfigAbove(folder: string): string | undefined {
  const path = join(folder, 'tsconfig.json');
  if (existsSync(path)) return path;
  const parent = dirname(folder);
  return parent === folder ? undefined : tsconfigAbove(parent);
}

/**
 * An export of a module of the user's project: TypeScript or JavaScript, ESM or CommonJS (whose exports are under `default`).
 * The thread learns TypeScript with the first of them and not before: from then on, each import of any file costs it several
 * times as much.
 * @returns undefined when there is no such export
 * @throws whatever the module throws while it loads
 */
export async function importExport({ file, exportName }: { file: string; exportName: string }): Promise<unknown> {
  await learnTypeScript(file);
  const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  const whole = module.default as Record<string, unknown> | undefined;
  // TypeScript with `export default` in a package of CommonJS: its default export is one deeper.
  if (exportName === 'default' && whole?.__esModule === true) return whole.default;
  return module[exportName] ?? whole?.[exportName];
}
