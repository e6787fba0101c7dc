import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitForLock } from './lock.mjs';
import { cacheDir } from './paths.mjs';
import { runCommand } from './process.mjs';
import { sayWhile } from './progress.mjs';

/** Versions that were tried with Gantry. */
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
/** The suite needs a newer Node than Gantry does: this package is the program itself. */
const NODE_MAJOR = 22;
const NODE_PACKAGE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}@22.23.3`;
const INSTALL_MS = 10 * 60_000;

/**
 * The public conformance suite of the Model Context Protocol, and a Node that runs it. One folder for each pair of versions,
 * kept in the cache.
 * @param {AbortSignal} [signal]
 * @returns {Promise<{node: string, cli: string}>} paths of the program and of the suite's script
 */
export async function findMcpConformance(signal) {
  const isNewEnough = Number(process.versions.node.split('.')[0]) >= NODE_MAJOR;
  const packages = isNewEnough ? [SUITE] : [SUITE, NODE_PACKAGE];
  const hash = createHash('sha256').update(packages.join()).digest('hex');
  const home = join(cacheDir(), `mcp-conformance-${hash.slice(0, 12)}`);
  const modules = join(home, 'node_modules');
  const found = {
    node: isNewEnough ? process.execPath : join(modules, NODE_PACKAGE.split('@')[0], 'bin', 'node'),
    cli: join(modules, '@modelcontextprotocol', 'conformance', 'dist', 'index.js'),
  };
  const complete = join(home, 'complete'); // npm fills a folder bit by bit: a mark says it is whole
  if (existsSync(complete)) return found;
  const lock = await waitForLock(`${home}.lock`, 'builder', { signal });
  try {
    if (existsSync(complete)) return found;
    await sayWhile('mcp', 'installing the conformance suite that tests use', async () => {
      rmSync(home, { recursive: true, force: true });
      mkdirSync(home, { recursive: true });
      writeFileSync(join(home, 'package.json'), '{"private":true}');
      // The suite declares the Node that it needs, and npm would refuse this one.
      const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--engine-strict=false', '--loglevel=error'];
      await runCommand('npm', ['install', '--prefix', home, ...options, ...packages], {
        signal,
        timeoutMs: INSTALL_MS,
      });
      writeFileSync(complete, '');
    });
    return found;
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`The MCP conformance suite could not be installed.\n${error.message}`, { cause: error });
  } finally {
    lock.release();
  }
}
