/**
 * @library @langchain/langgraph-api 1.5.1
 * @patch Uses the copy of TypeScript below the library, and replaces its `sys.readFile` to see which files the library reads.
 * @why The schemas of a graph are kept until a file that they came from changes, and the library doesn't say which these are.
 * @upstream None known.
 * @remove When `getStaticGraphSchema` names the files that it has read.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const LIBRARY = pathToFileURL(require.resolve('@langchain/langgraph-api/schema')).href;
const TYPESCRIPT = createRequire(require.resolve('@langchain/langgraph-api/package.json')).resolve('typescript');

/**
 * Source of a worker thread that reads the schemas of the graph `workerData` ({sourceFile, exportSymbol}) from its types and
 * posts `{ schemas, files }`: the schemas as JSON, and the paths of the files that were read.
 *
 * The compiler reads the user's code and runs none of it. It reports by console.log, which is no place for it here. Runs
 * come first: on Linux a thread has a priority of its own.
 */
export const SCHEMA_COMPILER = `
  const { parentPort, workerData } = require('node:worker_threads');
  if (process.platform === 'linux') require('node:os').setPriority(19);
  console.log = console.warn = () => undefined;
  const { sys } = require(${JSON.stringify(TYPESCRIPT)});
  const files = new Set();
  const readFile = sys.readFile;
  sys.readFile = (path, ...rest) => {
    const text = readFile(path, ...rest);
    if (text !== undefined) files.add(path);
    return text;
  };
  import(${JSON.stringify(LIBRARY)})
    .then(({ getStaticGraphSchema }) => getStaticGraphSchema(workerData, { mainThread: true }))
    .then((schemas) => parentPort.postMessage({ schemas: JSON.stringify(schemas), files: [...files] }));`;
