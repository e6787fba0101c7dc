/**
 * The entry point of the process that bundles UI components. Plugins of the project's style sheets are user code: they find
 * here what graph code finds, and no secret of Gantry's.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectToParent } from '../graphs/host/parent-channel';
import type { BundleAnswer, BundledFile, BundleRequest } from './bundler.protocol';

/** Runs come first, and the rest of the start: on Linux this is inherited by the bundler's own processes. */
const LOW_PRIORITY = 10;

async function bundle({ folder, shared }: BundleRequest, name: string, path: string): Promise<BundledFile[]> {
  const { build } = await import('@langchain/langgraph-ui');
  const output = await mkdtemp(join(tmpdir(), 'gantry-ui-'));
  try {
    await build({ cwd: folder, output, defs: { [name]: path }, config: { shared } });
    const built = join(output, 'public', name);
    const basenames = (await readdir(built)).sort();
    return await Promise.all(
      basenames.map(async (basename) => ({ basename, content: await readFile(join(built, basename)) })),
    );
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  setPriority(LOW_PRIORITY);
  const [request, { send }] = await connectToParent<BundleRequest, never, BundleAnswer>();
  process.chdir(request.folder);
  for (const [name, path] of Object.entries(request.uis)) {
    try {
      send({ name, files: await bundle(request, name, path) });
    } catch (error) {
      send({ name, error: error instanceof Error ? error.message : String(error) });
    }
  }
}

void main();
