/**
 * @library @langchain/core 1.4.0
 * @patch Replaces the module `utils/uuid/sha1` when a graph's copy of the library is loaded.
 * @why LangGraph names each task of each checkpoint by a hash, which the library computes in JavaScript: a fifth of the graph
 * process' time for reading a long history. Node computes the same hash in a third of the time.
 * @upstream None known.
 * @remove When the library hashes by `node:crypto`, or LangGraph names tasks otherwise.
 */
import { registerHooks } from 'node:module';

const SHA1 = /\/@langchain\/core\/dist\/utils\/uuid\/sha1\.(cjs|js)$/;
/** Takes an array of bytes, and returns the 20 bytes of its hash. */
const FUNCTION = `function sha1(bytes) { return hash('sha1', bytes, 'buffer'); }`;
const SOURCES: Record<string, { format: 'commonjs' | 'module'; source: string }> = {
  cjs: { format: 'commonjs', source: `const { hash } = require('node:crypto'); ${FUNCTION} exports.default = sha1;` },
  js: { format: 'module', source: `import { hash } from 'node:crypto'; ${FUNCTION} export { sha1 as default };` },
};

/** Has copies of the library that are loaded from now on hash by Node. To be called once. */
export function hashNatively(): void {
  registerHooks({
    load: (url, context, nextLoad) => {
      const [, ending] = SHA1.exec(url) ?? [];
      return ending === undefined ? nextLoad(url, context) : { ...SOURCES[ending], shortCircuit: true };
    },
  });
}
