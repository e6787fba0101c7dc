import { join } from 'node:path';
import { fillOnce, installNpmPackage } from './fill-once.mjs';
import { cacheDir } from './paths.mjs';

/** Versions that were tried with Gantry. */
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';

/**
 * The public conformance suite of the Model Context Protocol, in a folder of the cache for each version.
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>} path of the suite's script
 */
export async function findMcpConformance(signal) {
  const home = join(cacheDir(), `mcp-conformance-${SUITE.split('@').at(-1)}`);
  const script = join(home, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
  const what = 'installing the conformance suite that tests use';
  try {
    await fillOnce(home, { part: 'mcp', what, signal }, () => installNpmPackage(home, SUITE, signal));
    return script;
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`The MCP conformance suite could not be installed.\n${error.message}`, { cause: error });
  }
}
