import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const TSX = dirname(require.resolve('tsx/package.json'));

const urlOf = (path: string): string => pathToFileURL(join(TSX, path)).href;

/** tsx's own entry points: each teaches one of Node's two module systems to load TypeScript in the thread that asks it to. */
export const TSX_APIS = { esm: urlOf('dist/esm/api/index.mjs'), commonJs: urlOf('dist/cjs/api/index.mjs') };

let learned: Promise<void> | undefined;

function learnTypeScript(): Promise<void> {
  learned ??= (async () => {
    for (const url of Object.values(TSX_APIS)) {
      const { register } = (await import(url)) as { register: () => void };
      register();
    }
  })();
  return learned;
}

/**
 * What a module of the user's project exports under a name: TypeScript or JavaScript, ESM or CommonJS (whose exports are
 * under `default`). The thread learns TypeScript with the first of them and not before: from then on, each import of
 * any file costs it several times as much.
 * @returns undefined when there is no such export
 * @throws whatever the module throws while it loads
 */
export async function importExport({ file, exportName }: { file: string; exportName: string }): Promise<unknown> {
  await learnTypeScript();
  const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  return module[exportName] ?? (module.default as Record<string, unknown> | undefined)?.[exportName];
}
