import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LangChainTracer } from '@langchain/core/tracers/tracer_langchain';
import { RunTracer } from './run-tracer';

const ROOT = '00000000-0000-7000-8000-000000000001';
const STEP = '00000000-0000-7000-8000-000000000002';
const chain = { lc: 1 as const, type: 'not_implemented' as const, id: ['graph'] };

describe('RunTracer', () => {
  let server: Server;
  let tracer: RunTracer;

  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(202, { 'content-type': 'application/json' }).end('{}'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    tracer = new RunTracer({ apiUrl: `http://127.0.0.1:${port}`, apiKey: 'key' });
  });

  afterAll(async () => {
    await tracer.flush();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it.each<[string, (tracer: LangChainTracer) => LangChainTracer]>([
    ['the callback', (callback) => callback],
    ['the copy that the library makes of it', (callback) => callback.copyWithTracingConfig({ metadata: { a: 1 } })],
    [
      'a copy of that copy',
      (callback) =>
        callback.copyWithTracingConfig({ metadata: { a: 1 } }).copyWithTracingConfig({ metadata: { b: 1 } }),
    ],
  ])('knows of a step its run, and keeps no list of steps with the run: %s', async (_which, used) => {
    const callback = used(tracer.callback('tenant', 'graph'));
    await callback.handleChainStart(chain, {}, ROOT);
    const step = await callback.handleChainStart(chain, {}, STEP, ROOT);
    expect(step).toMatchObject({ parent_run_id: ROOT, trace_id: ROOT });
    expect(callback.getRun(ROOT)?.child_runs).toEqual([]);
    await callback.handleChainEnd({}, STEP);
    await callback.handleChainEnd({}, ROOT);
  });
});
