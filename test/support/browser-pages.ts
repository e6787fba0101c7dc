import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { installPackages } from './app';

const run = promisify(execFile);

/** Bundles the pages of an application (`pages/<name>.tsx`) into a folder, each with its HTML. */
export async function bundlePages(app: string, names: string[]): Promise<{ folder: string; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-pages-'));
  await build({
    absWorkingDir: app,
    entryPoints: names.map((name) => join('pages', `${name}.tsx`)),
    outdir: folder,
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  });
  for (const name of names) {
    const script = `<script type="module" src="/${name}.js"></script>`;
    writeFileSync(join(folder, `${name}.html`), `<!doctype html><meta charset="utf-8"><body>${script}</body>`);
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * The chat of `create-agent-chat-app` in its Vite variant, as the package has it, built by Vite once for each lock file.
 * @returns the folder that a web server serves
 */
export async function buildChatUi(): Promise<string> {
  const packages = await installPackages('chat-ui');
  const web = join(dirname(packages), 'web');
  if (existsSync(web)) return join(web, 'dist');
  const draft = `${web}.${process.pid}`;
  await cp(join(packages, 'create-agent-chat-app', 'templates', 'vite'), draft, { recursive: true });
  await run(process.execPath, [join(packages, 'vite', 'bin', 'vite.js'), 'build', '--logLevel', 'error'], {
    cwd: draft,
  });
  try {
    await rename(draft, web);
  } catch (error) {
    // Another test was faster.
    if (!existsSync(web)) throw error;
    await rm(draft, { recursive: true });
  }
  return join(web, 'dist');
}
