import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitForLock } from './lock.mjs';
import { cacheDir } from './paths.mjs';
import { runCommand } from './process.mjs';
import { sayWhile } from './progress.mjs';

/** Versions that were tried with Gantry. */
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const INSTALL_MS = 10 * 60_000;

/**
 * The public conformance suite of the Model Context Protocol, in a folder of the cache for each version.
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>} path of the suite's script
 */
export async function findMcpConformance(signal) {
  const home = join(cacheDir(), `mcp-conformance-${SUITE.split('@').at(-1)}`);
  const script = join(home, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
  const complete = join(home, 'complete'); // npm fills a folder bit by bit: a mark says it is whole
  if (existsSync(complete)) return script;
  const lock = await waitForLock(`${home}.lock`, 'builder', { signal });
  try {
    if (existsSync(complete)) return script;
    await sayWhile('mcp', 'installing the conformance suite that tests use', async () => {
      rmSync(home, { recursive: true, force: true });
      mkdirSync(home, { recursive: true });
      writeFileSync(join(home, 'package.json'), '{"private":true}');
      const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
      await runCommand('npm', ['install', '--prefix', home, ...options, SUITE], {
        signal,
        timeoutMs: INSTALL_MS,
      });
      writeFileSync(complete, '');
    });
    return script;
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`The MCP conformance suite could not be installed.\n${error.message}`, { cause: error });
  } finally {
    lock.release();
  }
}
