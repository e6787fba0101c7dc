import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunnableLambda } from '@langchain/core/runnables';
import type { LangChainTracer } from '@langchain/core/tracers/tracer_langchain';
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { traceable } from 'langsmith/traceable';
import { RunTracer } from './run-tracer';

const ROOT = '00000000-0000-7000-8000-000000000001';
const STEP = '00000000-0000-7000-8000-000000000002';
const RUN = { tenantId: 'tenant', graphId: 'graph', traceKey: 'key', headers: {} };
const chain = { lc: 1 as const, type: 'not_implemented' as const, id: ['graph'] };

describe('RunTracer', () => {
  let server: Server;
  let tracer: RunTracer;
  let uploads: { path: string; key: string; body: string }[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        uploads.push({
          path: request.url!,
          key: String(request.headers['x-api-key']),
          body: Buffer.concat(chunks).toString(),
        });
        // As Gantry's own API says of itself: a client may compress what it uploads.
        const info = { instance_flags: { gzip_body_enabled: true, zstd_compression_enabled: true } };
        response.writeHead(202, { 'content-type': 'application/json' });
        response.end(JSON.stringify(request.url!.endsWith('/info') ? info : {}));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    tracer = new RunTracer({ apiUrl: `http://127.0.0.1:${port}` });
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
  ])('finds the run of a step, and keeps no list of steps with the run: %s', async (_which, used) => {
    const callback = used(tracer.callback(RUN));
    await callback.handleChainStart(chain, {}, ROOT);
    const step = await callback.handleChainStart(chain, {}, STEP, ROOT);
    expect(step).toMatchObject({ parent_run_id: ROOT, trace_id: ROOT });
    expect(callback.getRun(ROOT)?.child_runs).toEqual([]);
    await callback.handleChainEnd({}, STEP);
    await callback.handleChainEnd({}, ROOT);
  });

  describe('continues the trace of a caller', () => {
    const CALLER = '00000000-0000-7000-8000-00000000000a';
    const CALL = '00000000-0000-7000-8000-00000000000b';
    const position = `20261125T165700000001Z${CALLER}.20261125T165700000002Z${CALL}`;
    const trace = async (header: string) => {
      await tracer.flush();
      uploads = [];
      const callbacks = tracer.callbacks({ ...RUN, headers: { 'langsmith-trace': header } });
      const graph = RunnableLambda.from(() => 'done').withConfig({ runName: 'called' });
      await graph.invoke('', { callbacks, runId: ROOT });
      await tracer.flush();
      const bodies = uploads.filter(({ path }) => path === '/runs/batch').map(({ body }) => JSON.parse(body) as Batch);
      return bodies.flatMap(({ post }) => post);
    };

    interface Batch {
      post: { id: string; trace_id: string; parent_run_id?: string; dotted_order: string; session_name: string }[];
    }

    it('below the run that the header names, in the project of the graph', async () => {
      const [run, ...more] = await trace(position);
      expect(run).toMatchObject({ id: ROOT, trace_id: CALLER, parent_run_id: CALL, session_name: 'graph' });
      expect(run.dotted_order.startsWith(`${position}.`)).toBe(true);
      expect(more).toEqual([]);
    });

    it.each(['', 'x', `${position}.`, position.replace(/Z.*/, ''), `${position}.x`])(
      'and begins its own where the header is none: "%s"',
      async (header) => {
        const [run] = await trace(header);
        expect(run).toMatchObject({ id: ROOT, trace_id: ROOT });
        expect(run.parent_run_id ?? null).toBeNull();
      },
    );
  });

  it('uploads with the key of the newest run', async () => {
    uploads = [];
    for (const traceKey of ['first', 'second']) {
      const callback = tracer.callback({ ...RUN, traceKey });
      await callback.handleChainStart(chain, {}, ROOT);
      await callback.handleChainEnd({}, ROOT);
      await tracer.flush();
    }
    expect(uploads.filter(({ path }) => path.includes('/runs')).map(({ key }) => key)).toEqual(['first', 'second']);
  });

  it('collects what many runs do at once into few uploads, without being asked to flush', async () => {
    uploads = [];
    const ids = Array.from(
      { length: 60 },
      (_, index) => `00000000-0000-7000-8000-0000000001${String(index).padStart(2, '0')}`,
    );
    const callback = tracer.callback(RUN);
    await Promise.all(ids.map((id) => callback.handleChainStart(chain, {}, id)));
    await Promise.all(ids.map((id) => callback.handleChainEnd({}, id)));
    const uploaded = () =>
      uploads
        .filter(({ path }) => path === '/runs/batch')
        .flatMap(({ body }) => (JSON.parse(body) as { post: { id: string; end_time?: number }[] }).post);
    while (uploaded().length < ids.length) await sleep(20);
    expect(uploaded().map(({ id }) => id)).toEqual(ids);
    expect(uploads.length).toBeLessThan(10);
  });

  describe('of a graph with functions that are traced individually', () => {
    const State = Annotation.Root({ question: Annotation<string>, answers: Annotation<string[]> });
    const answer = traceable((question: string, way: string) => `${question} ${way}`, { name: 'answer' });
    const read = traceable((_file: Uint8Array) => 'read', {
      name: 'read',
      extractAttachments: (file: Uint8Array) => [{ file: ['text/plain', file] }, []],
    });
    const compile = (ask: (question: string) => Promise<string[]>) =>
      new StateGraph(State)
        .addNode('ask', async ({ question }) => ({ answers: await ask(question) }))
        .addEdge(START, 'ask')
        .compile();

    const trace = async (ask: (question: string) => Promise<string[]>): Promise<void> => {
      uploads = [];
      const callbacks = [tracer.callback(RUN, { project_name: 'graph' })];
      await compile(ask).invoke({ question: 'why' }, { callbacks });
      await tracer.flush();
    };

    it('sends a batch as one JSON document, in which each function is a step of the node that called it', async () => {
      await trace((question) => Promise.all([answer(question, 'left'), answer(question, 'right')]));
      const batches = uploads.filter(({ path }) => path !== '/info');
      expect(new Set(batches.map(({ path }) => path))).toEqual(new Set(['/runs/batch']));
      const runs = batches.flatMap(({ body }) => {
        const { post, patch } = JSON.parse(body) as Record<
          'post' | 'patch',
          { name: string; [field: string]: unknown }[]
        >;
        return [...post, ...patch];
      });
      const of = (name: string) => runs.filter((run) => run.name === name);
      const [node] = of('ask');
      expect(node).toMatchObject({ session_name: 'graph', outputs: { answers: ['why left', 'why right'] } });
      const answers = of('answer').filter(({ outputs }) => outputs);
      expect(answers.map(({ outputs }) => outputs)).toEqual([{ outputs: 'why left' }, { outputs: 'why right' }]);
      for (const { parent_run_id, trace_id } of answers)
        expect({ parent_run_id, trace_id }).toEqual({ parent_run_id: node.id, trace_id: node.trace_id });
    });

    it('sends attachments as multipart, since JSON has no place for them', async () => {
      await trace(async () => [await read(Buffer.from('a letter'))]);
      const upload = uploads.find(({ body }) => body.includes('a letter'));
      expect(upload?.path).toBe('/runs/multipart');
      expect(upload?.body).toMatch(/name="attachment\.[0-9a-f-]+\.file"/);
    });
  });
});
