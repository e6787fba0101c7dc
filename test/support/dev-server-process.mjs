import { register } from 'tsx/esm/api';

/** The JavaScript dev server in a process of its own. It keeps its state below its working directory. */
register();
const { startServer } = await import('@langchain/langgraph-api/server');
const { graphs, port } = JSON.parse(process.env.DEV_SERVER_OPTIONS);
await startServer({ graphs, port, host: '127.0.0.1', nWorkers: 10, cwd: process.cwd() });
process.send({ type: 'ready' });
