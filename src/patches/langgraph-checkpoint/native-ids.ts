/**
 * @library @langchain/langgraph-checkpoint 1.2.2
 * @patch Appends a function to the module `id`, and exports it as `uuid5`.
 * @why LangGraph names each task of each checkpoint by a UUID of version 5, which the library computes in JavaScript: a third of
 * the graph process' time for reading a long history. With Node's SHA-1 and buffers it takes a quarter of that.
 * @upstream None known.
 * @remove When the library hashes by `node:crypto`, or LangGraph names tasks otherwise.
 */

/** Same result as the library's function, for a namespace in the usual form; any other is left to the library. */
const FUNCTION = `
const nativeUuid5 = ((libraryUuid5, { hash }) => function nativeUuid5(name, namespace) {
  const digits = namespace.replaceAll('-', '');
  const bytes = Buffer.allocUnsafe(16 + Buffer.byteLength(name));
  if (digits.length !== 32 || bytes.write(digits, 'hex') !== 16) return libraryUuid5(name, namespace);
  bytes.write(name, 16);
  const hex = hash('sha1', bytes);
  const variant = ((parseInt(hex[16], 16) & 3) | 8).toString(16);
  return hex.slice(0, 8) + '-' + hex.slice(8, 12) + '-5' + hex.slice(13, 16) + '-' + variant + hex.slice(17, 20) + '-' + hex.slice(20, 32);
})(uuid5, process.getBuiltinModule('node:crypto'));
`;
const EXPORT = { cjs: 'exports.uuid5 = nativeUuid5;', js: 'uuid5 = nativeUuid5;' };

/** Computes the ids of tasks by Node, in versions of the library that have the function. */
export const nativeIds = {
  module: /\/@langchain\/langgraph-checkpoint\/dist\/id\.(cjs|js)$/,
  patch: (source: string, ending: 'cjs' | 'js'): string => {
    return source.includes('function uuid5(') ? source + FUNCTION + EXPORT[ending] : source;
  },
};
