import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { type ApiProcess, startApiProcess } from '../support/api-process';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { runToExit, TEST_GRAPHS } from '../support/gantry';

const UNKNOWN_ID = '7e4d2c3b-0000-4000-8000-000000000000';
const BODY_LIMIT = 64 * 1024;

interface Refusal {
  status: number;
  type: string;
  text: string;
}

interface ErrorBody {
  detail: string;
  errors?: { path: string; message: string }[];
}

/** Bad input is refused with the name of the field, file or variable. */
describe('invalid requests', () => {
  let api: ApiProcess;
  let thread: string;

  beforeAll(async () => {
    // No Temporal and no worker: nothing here may get as far as a workflow.
    api = await startApiProcess({ GANTRY_CONFIG: TEST_GRAPHS, GANTRY_BODY_LIMIT_BYTES: String(BODY_LIMIT) });
    thread = ((await ask('POST', '/threads', '{}')).body as { thread_id: string }).thread_id;
  });

  afterAll(() => api?.close());

  async function ask(
    method: string,
    path: string,
    body?: string,
    type = 'application/json',
  ): Promise<Refusal & { body: unknown }> {
    const response = await fetch(api.url + path, {
      method,
      ...(body !== undefined && { body, headers: { 'content-type': type } }),
    });
    const text = await response.text();
    const answered = response.headers.get('content-type') ?? '';
    return {
      status: response.status,
      type: answered,
      text,
      body: answered.startsWith('application/json') ? JSON.parse(text) : undefined,
    };
  }

  const post = (path: string, body: unknown) => ask('POST', path, JSON.stringify(body));

  describe('a body that is not JSON', () => {
    it.each(['application/json', 'text/plain'])('is a 422 with the position, sent as %s', async (type) => {
      const { status, body } = await ask('POST', '/runs/wait', '{"assistant_id": "three",', type);
      expect(status).toBe(422);
      expect((body as ErrorBody).detail).toMatch(/^Invalid JSON in request body: .+/);
    });

    it('is a 415 in an unsupported type', async () => {
      const { status } = await ask('POST', '/runs/wait', '<run/>', 'application/xml');
      expect(status).toBe(415);
    });

    it('is a 422 when there is none', async () => {
      expect((await ask('POST', '/runs/wait')).status).toBe(422);
      expect((await ask('POST', '/runs/wait', '')).status).toBe(422);
    });

    it.each(['[]', '"three"', '7', 'null'])('is a 422 when it is %s', async (text) => {
      expect((await ask('POST', '/runs/wait', text)).status).toBe(422);
    });

    it('is refused when it tries to reach the prototype', async () => {
      const text = '{"assistant_id":"three","metadata":{"__proto__":{"admin":true}}}';
      expect((await ask('POST', `/threads/${thread}/runs`, text)).status).toBe(422);
    });
  });

  it.each([
    ['POST', '/assistants/three/latest', { version: Number.MAX_SAFE_INTEGER }, 'version'],
    ['POST', '/api/v1/feedback', { key: 'k', run_id: UNKNOWN_ID, score: 1e308 }, 'score'],
    ['GET', '/api/v1/feedback?source=%00', undefined, ''],
  ])('are a 422 for values that the database cannot store: %s %s', async (method, path, body, field) => {
    const { status, text } = await ask(method, path, body && JSON.stringify(body));
    expect([status, text]).toEqual([422, expect.stringContaining(field || 'U+0000')]);
  });

  it('are a 413 for a body above the limit', async () => {
    const { status, body } = await post('/runs/wait', {
      assistant_id: 'three',
      input: { text: 'x'.repeat(BODY_LIMIT) },
    });
    expect(status).toBe(413);
    expect((body as ErrorBody).detail).toBe(
      `The request body is too large: the limit is ${BODY_LIMIT} bytes (GANTRY_BODY_LIMIT_BYTES)`,
    );
  });

  describe('fields of the wrong shape', () => {
    const runs: [string, unknown, string][] = [
      ['no assistant', {}, 'assistant_id'],
      ['an assistant that is a number', { assistant_id: 7 }, 'assistant_id'],
      ['an unknown stream mode', { assistant_id: 'three', stream_mode: 'everything' }, 'stream_mode'],
      ['an unknown mode in a list', { assistant_id: 'three', stream_mode: ['values', 'all'] }, 'stream_mode'],
      ['an unknown strategy', { assistant_id: 'three', multitask_strategy: 'fight' }, 'multitask_strategy'],
      ['metadata that is a list', { assistant_id: 'three', metadata: [] }, 'metadata'],
      ['no nodes at once', { assistant_id: 'three', config: { max_concurrency: 0 } }, 'config.max_concurrency'],
      ['a name that is no text', { assistant_id: 'three', config: { run_name: 7 } }, 'config.run_name'],
      ['a recursion limit of 0', { assistant_id: 'three', config: { recursion_limit: 0 } }, 'config.recursion_limit'],
      ['tags that are not a list', { assistant_id: 'three', config: { tags: 'a' } }, 'config.tags'],
      ['a delay that is text', { assistant_id: 'three', after_seconds: 'soon' }, 'after_seconds'],
      ['a checkpoint that is no UUID', { assistant_id: 'three', checkpoint_id: 'latest' }, 'checkpoint_id'],
      ['an unknown durability', { assistant_id: 'three', durability: 'maybe' }, 'durability'],
      ['a command that is text', { assistant_id: 'three', command: 'resume' }, 'command'],
    ];

    it.each(runs)('names the field of a run: %s', async (_, body, field) => {
      for (const path of ['/runs', `/threads/${thread}/runs`, `/threads/${thread}/runs/stream`, '/runs/wait']) {
        const answer = await post(path, body);
        expect(answer.status).toBe(422);
        const { detail, errors } = answer.body as ErrorBody;
        expect(errors!.map((error) => error.path).join()).toContain(field);
        expect(detail).toContain(field);
      }
    });

    it('names every wrong field at once', async () => {
      const { body } = await post('/runs', { stream_mode: 'all', after_seconds: 'soon' });
      const paths = (body as ErrorBody).errors!.map(({ path }) => path).join();
      for (const field of ['assistant_id', 'stream_mode', 'after_seconds']) expect(paths).toContain(field);
    });

    it('names the item of a batch', async () => {
      const { status, body } = await post('/runs/batch', [{ assistant_id: 'three' }, { assistant_id: 7 }]);
      expect(status).toBe(422);
      expect((body as ErrorBody).errors![0].path).toBe('1.assistant_id');
    });

    it.each([
      ['POST', '/assistants/search', { limit: 0 }, 'limit'],
      ['POST', '/assistants/search', { limit: 1001 }, 'limit'],
      ['POST', '/assistants/search', { offset: -1 }, 'offset'],
      ['POST', '/assistants/search', { sort_by: 'age' }, 'sort_by'],
      ['POST', '/assistants', { name: 'x' }, 'graph_id'],
      ['POST', '/assistants', { graph_id: 'three', assistant_id: 'mine' }, 'assistant_id'],
      ['POST', '/threads', { thread_id: 'mine' }, 'thread_id'],
      ['POST', '/threads', { if_exists: 'explode' }, 'if_exists'],
      ['POST', '/threads/search', { status: 'asleep' }, 'status'],
      ['POST', '/threads/search', { ids: ['abc'] }, 'ids'],
    ])('names the field of %s %s with %j', async (_, path, body, field) => {
      const answer = await post(path, body);
      expect(answer.status).toBe(422);
      expect((answer.body as ErrorBody).errors!.map((error) => error.path).join()).toContain(field);
    });
  });

  describe('ids', () => {
    it.each([
      ['GET', '/threads/abc'],
      ['PATCH', '/threads/abc'],
      ['DELETE', '/threads/abc'],
      ['GET', '/threads/abc/state'],
      ['GET', '/threads/abc/history'],
      ['POST', '/threads/abc/copy'],
      ['GET', '/threads/abc/runs'],
      ['GET', '/runs/abc'],
      ['GET', '/runs/abc/stream'],
      ['GET', `/threads/${UNKNOWN_ID}/runs/abc`],
      ['POST', `/threads/${UNKNOWN_ID}/runs/abc/cancel`],
    ])('are a 422 that names them when they are not UUIDs: %s %s', async (method, path) => {
      const { status, body } = await ask(method, path, method === 'GET' || method === 'DELETE' ? undefined : '{}');
      expect(status).toBe(422);
      expect((body as ErrorBody).errors![0]).toMatchObject({
        path: expect.stringMatching(/thread_id|run_id/),
        message: 'must be a UUID',
      });
    });

    const unknown: [string, string, unknown, string][] = [
      ['GET', `/assistants/${UNKNOWN_ID}`, undefined, 'Assistant not found'],
      ['GET', '/assistants/no-such-graph', undefined, 'Assistant not found'],
      ['PATCH', `/assistants/${UNKNOWN_ID}`, {}, 'Assistant not found'],
      ['DELETE', `/assistants/${UNKNOWN_ID}`, undefined, 'Assistant not found'],
      ['GET', `/threads/${UNKNOWN_ID}`, undefined, `Thread with ID ${UNKNOWN_ID} not found`],
      ['PATCH', `/threads/${UNKNOWN_ID}`, {}, `Thread with ID ${UNKNOWN_ID} not found`],
      ['DELETE', `/threads/${UNKNOWN_ID}`, undefined, `Thread with ID ${UNKNOWN_ID} not found`],
      ['GET', `/threads/${UNKNOWN_ID}/state`, undefined, `Thread with ID ${UNKNOWN_ID} not found`],
      ['POST', `/threads/${UNKNOWN_ID}/state`, { values: {} }, `Thread with ID ${UNKNOWN_ID} not found`],
      ['GET', `/threads/${UNKNOWN_ID}/history`, undefined, `Thread with ID ${UNKNOWN_ID} not found`],
      ['POST', `/threads/${UNKNOWN_ID}/copy`, {}, `Thread with ID ${UNKNOWN_ID} not found`],
      ['GET', `/threads/${UNKNOWN_ID}/runs`, undefined, `Thread with ID ${UNKNOWN_ID} not found`],
      ['POST', `/threads/${UNKNOWN_ID}/runs`, { assistant_id: 'three' }, `Thread with ID ${UNKNOWN_ID} not found`],
      ['POST', `/threads/${UNKNOWN_ID}/runs/wait`, { assistant_id: 'three' }, `Thread with ID ${UNKNOWN_ID} not found`],
      ['GET', `/runs/${UNKNOWN_ID}`, undefined, 'Run not found'],
      ['GET', `/runs/${UNKNOWN_ID}/stream`, undefined, 'Run not found'],
      ['GET', `/threads/${UNKNOWN_ID}/runs/${UNKNOWN_ID}`, undefined, 'Run not found'],
      ['GET', `/threads/${UNKNOWN_ID}/runs/${UNKNOWN_ID}/join`, undefined, 'Run not found'],
      ['POST', `/threads/${UNKNOWN_ID}/runs/${UNKNOWN_ID}/cancel`, {}, 'Run not found'],
      ['GET', '/no/such/route', undefined, 'Not Found'],
    ];
    it.each(unknown)('are a 404 in plain text when they are unknown: %s %s', async (method, path, body, text) => {
      const answer = await ask(method, path, body === undefined ? undefined : JSON.stringify(body));
      expect(answer).toMatchObject({ status: 404, text });
      expect(answer.type).toMatch(/^text\/plain/);
    });

    it('of a graph that is not served are named in the answer', async () => {
      for (const path of ['/runs', '/runs/wait', '/runs/stream', `/threads/${thread}/runs`]) {
        const answer = await post(path, { assistant_id: 'no-such-graph' });
        expect(answer.status).toBe(404);
        expect(answer.text).toMatch(/^No assistant found for "no-such-graph"/);
      }
      const created = await post('/assistants', { graph_id: 'no-such-graph' });
      expect(created.status).toBe(404);
      expect(created.text).toMatch(/no-such-graph.*three/);
    });
  });

  it('are a 409 for a thread or an assistant that exists already', async () => {
    expect((await post('/threads', { thread_id: thread })).status).toBe(409);
    expect((await post('/threads', { thread_id: thread, if_exists: 'do_nothing' })).body).toMatchObject({
      thread_id: thread,
    });
    const assistant = uuidv7();
    expect((await post('/assistants', { graph_id: 'three', assistant_id: assistant })).status).toBe(200);
    expect((await post('/assistants', { graph_id: 'three', assistant_id: assistant })).status).toBe(409);
  });

  it('are a 409 for a second run with `reject`, and a 200 with the default strategy', async () => {
    const { body } = await post('/threads', {});
    const { thread_id } = body as { thread_id: string };
    expect((await post(`/threads/${thread_id}/runs`, { assistant_id: 'three', after_seconds: 3600 })).status).toBe(200);
    const second = await post(`/threads/${thread_id}/runs`, { assistant_id: 'three', multitask_strategy: 'reject' });
    expect(second.status).toBe(409);
    expect((second.body as ErrorBody).detail).toMatch(/already running/);
    expect((await post(`/threads/${thread_id}/runs`, { assistant_id: 'three', after_seconds: 3600 })).status).toBe(200);
  });

  it('are a 400 when they are well-formed and cannot be fulfilled', async () => {
    const stateless = await post('/runs/wait', { assistant_id: 'three', command: { resume: 'yes' } });
    expect(stateless.status).toBe(400);
    const both = await post('/runs/wait', {
      assistant_id: 'three',
      context: { a: 1 },
      config: { configurable: { b: 2 } },
    });
    expect(both.status).toBe(400);
    expect((await post(`/threads/${thread}/state`, { values: { done: [] } })).status).toBe(400);
  });

  it('store nothing of a batch in which one run is wrong', async () => {
    const answer = await post('/runs/batch', [{ assistant_id: 'three' }, { assistant_id: 'no-such-graph' }]);
    expect(answer.status).toBe(404);
    const { body } = await post('/threads/count', { metadata: { graph_id: 'three' }, status: 'busy' });
    expect(body).toBeLessThanOrEqual(1);
  });
});

describe('a wrong deployment does not start', () => {
  let database: TestDatabase;
  let folder: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    folder = mkdtempSync(join(tmpdir(), 'gantry-bad-'));
  });

  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await database?.drop();
  });

  function write(name: string, text: string): string {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  }

  const start = (env: Record<string, string>, which: 'api' | 'worker' = 'worker') =>
    runToExit(which, {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: process.env.GANTRY_TEST_TEMPORAL_ADDRESS ?? '127.0.0.1:1',
      GANTRY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      GANTRY_PORT: '0',
      ...env,
    });

  it('and every missing and wrong variable is named at once, and never a value that may be secret', async () => {
    const { code, output } = await runToExit('api', {
      DATABASE_URL: 'mysql://root:hunter2@localhost/x',
      GANTRY_SECRET_KEY: 'too-short-a-secret',
      GANTRY_PORT: '99999',
      GANTRY_AUTH: 'perhaps',
    });
    expect(code).toBe(1);
    for (const name of [
      'DATABASE_URL',
      'TEMPORAL_ADDRESS is missing',
      'GANTRY_SECRET_KEY',
      'GANTRY_PORT',
      'GANTRY_AUTH',
    ]) {
      expect(output).toContain(name);
    }
    expect(output).not.toContain('hunter2');
    expect(output).not.toContain('too-short-a-secret');
  });

  it.each(['api', 'worker'] as const)('with %s: a langgraph.json that does not exist', async (which) => {
    const path = join(folder, 'nowhere.json');
    const { code, output } = await start({ GANTRY_CONFIG: path }, which);
    expect(code).toBe(1);
    expect(output).toContain(`${path}: there is no such file`);
  });

  it('with a langgraph.json that is not JSON', async () => {
    const path = write('broken.json', '{ "graphs": ');
    const { code, output } = await start({ GANTRY_CONFIG: path });
    expect(code).toBe(1);
    expect(output).toContain(`${path}: not valid JSON`);
  });

  it('with a langgraph.json whose fields are wrong', async () => {
    const path = write('fields.json', JSON.stringify({ graphs: { a: { description: 'has no path' }, b: 7 } }));
    const { code, output } = await start({ GANTRY_CONFIG: path });
    expect(code).toBe(1);
    expect(output).toContain(`${path}: graphs.a`);
    expect(output).toContain(`${path}: graphs.b`);
  });

  it('with graphs that cannot be served, all reported at once: no file', async () => {
    const graphs = { a: './missing-a.ts:graph', b: './missing-b.ts:graph' };
    const { code, output } = await start({ GANTRY_CONFIG: write('missing.json', JSON.stringify({ graphs })) });
    expect(code).toBe(1);
    expect(output).toContain(`graphs.a: there is no file ${join(folder, 'missing-a.ts')}`);
    expect(output).toContain(`graphs.b: there is no file ${join(folder, 'missing-b.ts')}`);
  });

  it('with graphs that cannot be served, all reported at once: throws on import, has no such export, exports something else', async () => {
    const throwing = write('throwing.ts', `throw new Error('The model key is missing');\nexport const graph = 1;\n`);
    const exporting = write('exporting.ts', `export const other = 1;\nexport const text: string = 'a graph';\n`);
    const syntax = write('syntax.ts', `export const graph = {;\n`);
    const graphs = {
      throwing: './throwing.ts:graph',
      exporting: './exporting.ts:graph',
      text: './exporting.ts:text',
      syntax: './syntax.ts:graph',
    };
    const { code, output } = await start({ GANTRY_CONFIG: write('bad.json', JSON.stringify({ graphs })) });
    expect(code).toBe(1);
    expect(output).toContain(`graphs.throwing: ${throwing} failed to load: The model key is missing`);
    expect(output).toContain(`graphs.exporting: ${exporting} has no export "graph"`);
    expect(output).toContain(`graphs.text: ${exporting}: "text" is a string; it has to be a compiled graph, `);
    expect(output).toContain(`graphs.syntax: ${syntax} failed to load`);
  });

  it('but does with one broken graph, which reports why it is not served', async () => {
    const throwing = write('throwing-one.ts', `throw new Error('The model key is missing');\n`);
    const graphs = { fine: join(dirname(TEST_GRAPHS), 'ten.ts:three'), broken: './throwing-one.ts:graph' };
    const api = await startApiProcess({ GANTRY_CONFIG: write('one.json', JSON.stringify({ graphs })) });
    try {
      const run = async (assistant_id: string): Promise<Response> =>
        fetch(`${api.url}/runs`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ assistant_id, after_seconds: 3600 }),
        });
      expect((await run('fine')).status).toBe(200);
      const refused = await run('broken');
      expect(refused.status).toBe(400);
      expect(((await refused.json()) as ErrorBody).detail).toBe(
        `Graph "broken" can't be served: ${throwing} failed to load: The model key is missing`,
      );
    } finally {
      await api.close();
    }
  });

  it('but does without Python for one of its graphs, and says so for the states of its threads as well', async () => {
    const graphs = { fine: join(dirname(TEST_GRAPHS), 'ten.ts:three'), snake: './snake.py:graph' };
    write('snake.py', 'graph = 1\n');
    const api = await startApiProcess({
      GANTRY_CONFIG: write('snake.json', JSON.stringify({ graphs })),
      GANTRY_PYTHON: join(folder, 'no-python'),
    });
    try {
      const ask = async (method: string, path: string, body?: unknown): Promise<Response> =>
        fetch(`${api.url}${path}`, {
          method,
          headers: { 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
      const supersteps = [{ updates: [{ values: {}, as_node: '__input__' }] }];
      const created = await ask('POST', '/threads', { metadata: { graph_id: 'snake' } });
      const { thread_id } = (await created.json()) as { thread_id: string };
      for (const answer of [
        await ask('POST', '/runs', { assistant_id: 'snake', after_seconds: 3600 }),
        await ask('POST', '/threads', { metadata: { graph_id: 'snake' }, supersteps }),
        await ask('POST', `/threads/${thread_id}/state`, { values: {} }),
      ]) {
        const { detail } = (await answer.json()) as ErrorBody;
        expect([answer.status, detail]).toEqual([400, expect.stringMatching(/not served: .*ENOENT.*GANTRY_PYTHON/)]);
      }
      expect((await ask('POST', '/runs', { assistant_id: 'fine', after_seconds: 3600 })).status).toBe(200);
    } finally {
      await api.close();
    }
  });

  it('with an env file that does not exist', async () => {
    write('fine.ts', 'export const graph = () => undefined;\n');
    const config = write('env.json', JSON.stringify({ graphs: { fine: './fine.ts:graph' }, env: './.env.nowhere' }));
    const { code, output } = await start({ GANTRY_CONFIG: config });
    expect(code).toBe(1);
    expect(output).toContain(`env: there is no file ${join(folder, '.env.nowhere')}`);
  });

  it('with an address that others can reach, without authentication', async () => {
    const { code, output } = await start({ GANTRY_HOST: '0.0.0.0', GANTRY_CONFIG: TEST_GRAPHS }, 'api');
    expect(code).toBe(1);
    expect(output).toContain('GANTRY_HOST=0.0.0.0');
    expect(output).toContain('GANTRY_AUTH=on');
  });
});
