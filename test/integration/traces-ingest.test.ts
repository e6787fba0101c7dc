import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { Client } from 'pg';
import { request } from 'undici';
import { v7 as uuidv7 } from 'uuid';
import { type ApiProcess, startApiProcess } from '../support/api-process';
import { TENANT } from '../support/export-harness';
import { waitFor } from '../support/wait-for';

type Json = Record<string, unknown>;

/** A part as clients write it: JavaScript's say the length inside Content-Type, Python's in Content-Length. */
function part(name: string, body: string, contentType = `application/json; length=${Buffer.byteLength(body)}`): string {
  return `--b\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${contentType}\r\n\r\n${body}\r\n`;
}
const multipartBody = (...parts: string[]): string => `${parts.join('')}--b--\r\n`;

describe('trace ingestion', () => {
  let api: ApiProcess;
  let db: Client;

  beforeAll(async () => {
    api = await startApiProcess({ GANTRY_TRACE_LIMIT_BYTES: '200000' });
    db = new Client({ connectionString: api.database.url });
    await db.connect();
  });
  afterAll(async () => {
    await db.end();
    await api.close();
  });

  async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const raw = typeof body === 'string' || Buffer.isBuffer(body);
    const response = await fetch(api.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text ? JSON.parse(text) : null) as Json };
  }
  const upload = (body: string | Buffer, headers: Record<string, string> = {}) =>
    send('POST', '/runs/multipart', body, { 'content-type': 'multipart/form-data; boundary=b', ...headers });
  const read = async (id: string) => (await send('GET', `/api/v1/runs/${id}`)).body;

  const stamp = (time: string): string => time.replace(/[-:.]/g, '');
  function newRun(fields: Json = {}): Json & { id: string } {
    const id = uuidv7();
    const start = '2026-11-20T10:00:00.123456Z';
    return {
      id,
      trace_id: id,
      dotted_order: stamp(start) + id,
      name: 'run',
      run_type: 'chain',
      start_time: start,
      session_name: 'ingest',
      ...fields,
    };
  }

  it('stores the contents of a single post and patch, with microseconds and the client’s JSON unchanged', async () => {
    const run = newRun({ inputs: { b: 1, a: 'x' }, extra: { metadata: { thread_id: 't1' } }, tags: ['x"\\,{}', 'y'] });
    expect((await send('POST', '/api/v1/runs', run)).status).toBe(202);
    expect(await read(run.id)).toMatchObject({ status: 'pending', end_time: null, outputs: null, total_tokens: 0 });
    const patch = {
      outputs: { usage_metadata: { input_tokens: 3, output_tokens: 4, total_cost: 0.25 } },
      end_time: 1795168800500,
    };
    expect(
      (await send('PATCH', `/runs/${run.id}`, { ...patch, name: null, extra: null, session_id: null })).status,
    ).toBe(202);
    expect(await read(run.id)).toMatchObject({
      id: run.id,
      status: 'success',
      start_time: '2026-11-20T10:00:00.123456',
      end_time: '2026-11-20T10:00:00.500000',
      inputs: { b: 1, a: 'x' },
      tags: ['x"\\,{}', 'y'],
      thread_id: 't1',
      total_tokens: 7,
      total_cost: '0.25',
      name: 'run',
    });
    const { rows } = await db.query('SELECT inputs FROM trace_runs WHERE run_id = $1', [run.id]);
    expect(rows).toEqual([{ inputs: '{"b":1,"a":"x"}' }]);
  });

  it('counts the tokens of a model’s response once when the run above returns that response', async () => {
    const start = '2026-11-20T10:00:00.123456Z';
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const root = newRun({ outputs: { choices: [], usage } });
    const model = newRun({ run_type: 'llm', parent_run_id: root.id, trace_id: root.id, outputs: { usage } });
    model.dotted_order = `${root.dotted_order as string}.${stamp(start)}${model.id}`;
    expect((await send('POST', '/api/v1/runs/batch', { post: [root, model] })).status).toBe(202);
    expect(await read(root.id)).toMatchObject({ total_tokens: 15, prompt_tokens: 10 });
    expect(await read(model.id)).toMatchObject({ total_tokens: 15 });
  });

  it('keeps the metadata of a run whose end has only what clients add by themselves', async () => {
    const environment = { revision_id: 'v1', LANGSMITH_TRACING: 'true', ls_tracing_sample_rate: 1 };
    const extra = { runtime: { sdk: 'langsmith-js' }, metadata: environment };
    const run = newRun({ extra: { metadata: { thread_id: 't', user: 'u' } } });
    const end = { outputs: { a: 1 }, end_time: '2026-11-20T10:00:01Z' };
    await send('POST', '/api/v1/runs', run);
    await send('PATCH', `/runs/${run.id}`, { ...end, extra });
    expect(await read(run.id)).toMatchObject({ outputs: { a: 1 }, thread_id: 't', metadata: { user: 'u' } });
    await send('PATCH', `/runs/${run.id}`, { extra: { ...extra, metadata: { ...environment, thread_id: 'other' } } });
    expect(await read(run.id)).toMatchObject({ thread_id: 'other', metadata: environment });
    const bare = newRun();
    await send('POST', '/api/v1/runs/batch', { post: [bare], patch: [{ ...bare, ...end, extra }] });
    expect(await read(bare.id)).toMatchObject({ extra });
  });

  it('accepts NUL characters and lone surrogates wherever users can put them', async () => {
    const run = newRun({
      name: 'a\u0000b',
      tags: ['\u0000'],
      inputs: { 'k\u0000': 'v\u0000', lone: '\ud800' },
      extra: { metadata: { 'm\u0000': '\\u0000', n: '\ud800' } },
      error: 'bad \u0000',
    });
    expect((await send('POST', '/api/v1/runs', JSON.stringify(run))).status).toBe(202);
    expect(await read(run.id)).toMatchObject({
      name: 'a\ufffdb',
      tags: ['\ufffd'],
      inputs: { 'k\u0000': 'v\u0000', lone: '\ud800' },
      metadata: { 'm\ufffd': '\\u0000', n: '\ufffd' },
      error: 'bad \ufffd',
    });
  });

  it('keeps a number beyond JavaScript’s precision that arrived by multipart', async () => {
    const run = newRun();
    const parts = multipartBody(
      part(`post.${run.id}`, JSON.stringify(run)),
      part(`post.${run.id}.inputs`, '{"n":12345678901234567890}'),
    );
    expect((await upload(parts)).status).toBe(202);
    const { rows } = await db.query('SELECT inputs FROM trace_runs WHERE run_id = $1', [run.id]);
    expect(rows).toEqual([{ inputs: '{"n":12345678901234567890}' }]);
  });

  it('keeps integers beyond 2^53 through every form of upload, and in query results', async () => {
    const metadata = '{"order":12345678901234567890}';
    const payloads = `"inputs":{"id":9007199254740993},"extra":{"metadata":${metadata}},"tags":["a"]`;
    const withPayloads = (run: Json): string => `${JSON.stringify(run).slice(0, -1)},${payloads}}`;
    const [single, batched, inline, patched, raw] = Array.from({ length: 5 }, () => newRun());
    await send('POST', '/api/v1/runs', withPayloads(single));
    await send('POST', '/api/v1/runs/batch', `{"post":[${withPayloads(batched)}]}`);
    await upload(multipartBody(part(`post.${inline.id}`, withPayloads(inline))));
    await send('POST', '/api/v1/runs', patched);
    expect((await send('PATCH', `/runs/${patched.id}`, `{${payloads}}`)).status).toBe(202);
    await upload(
      multipartBody(
        part(`post.${raw.id}`, JSON.stringify(raw)),
        part(`post.${raw.id}.inputs`, '{"id":9007199254740993}'),
        part(`post.${raw.id}.extra`, `{"metadata":${metadata}}`),
      ),
    );
    const textOf = async (path: string, body?: Json): Promise<string> => {
      const headers = { 'content-type': 'application/json' };
      const query = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await fetch(api.url + path, body && query)).text();
    };
    for (const { id } of [single, batched, inline, patched, raw]) {
      for (const path of [`/api/v1/runs/${id}`, `/api/runs/${id}`]) {
        expect(await textOf(path)).toContain('"inputs":{"id":9007199254740993}');
      }
      expect(await textOf('/runs/query', { id: [id] })).toContain(`"extra":{"metadata":${metadata}}`);
    }
    const { session_id: project } = await read(single.id);
    const filter = 'and(eq(metadata_key, "order"), eq(metadata_value, "12345678901234567890"))';
    const selects = ['ID', 'INPUTS', 'METADATA'];
    const found = await textOf('/v2/runs/query', {
      ...{ project_ids: [project], min_start_time: '2026-11-20T00:00:00Z', max_start_time: '2026-11-21T00:00:00Z' },
      ...{ filter, selects },
    });
    // jsonb has its own spacing, and no other digits.
    expect(found.match(/"inputs":\{"id":9007199254740993\},"metadata":\{"order":12345678901234567890\}/g)).toHaveLength(
      5,
    );
  });

  it('merges post and patch of one upload, and reads gzip, feedback and attachments', async () => {
    const run = newRun();
    const feedback = randomUUID();
    const body = multipartBody(
      part(`post.${run.id}`, JSON.stringify(run), 'application/json'),
      part(`post.${run.id}.outputs`, '{}'),
      part(`patch.${run.id}.outputs`, '{"answer":42}'),
      part(`patch.${run.id}`, JSON.stringify({ end_time: '2026-11-20T10:00:01Z' })),
      part(`patch.${run.id}.error`, '"it \\"broke\\""'),
      part(`feedback.${feedback}`, JSON.stringify({ run_id: run.id, trace_id: run.id, key: 'quality', score: 0.5 })),
      part(
        `feedback.${randomUUID()}`,
        JSON.stringify({ run_id: run.id, trace_id: run.id, key: 'label', value: 'good' }),
      ),
      part(`attachment.${run.id}.notes`, 'hello', 'text/plain; length=5'),
    );
    expect(await upload(gzipSync(body), { 'content-encoding': 'gzip' })).toEqual({
      status: 202,
      body: { message: 'Runs stored' },
    });
    const stored = await read(run.id);
    expect(stored).toMatchObject({
      status: 'error',
      error: 'it "broke"',
      outputs: { answer: 42 },
      feedback_stats: { quality: { n: 1, avg: 0.5, values: {} }, label: { n: 1, avg: null, values: { good: 1 } } },
    });
    const { presigned_url: link, mime_type: type } =
      (stored.s3_urls as Record<string, Record<string, string>>)['attachment.notes'] ?? {};
    expect(type).toBe('text/plain');
    const attachment = await fetch(link ?? '');
    expect(await attachment.text()).toBe('hello');
    expect(attachment.headers.get('content-type')).toContain('text/plain');
    expect((await fetch(`${link}x`)).status).toBe(404);
  });

  it.each([1, 7, 64, 1000])('reads an upload that arrives chunked, in pieces of %i bytes', async (bytes) => {
    const run = newRun();
    const body = Buffer.from(
      multipartBody(
        part(`post.${run.id}`, JSON.stringify(run)),
        // Python's way of saying how long a part is.
        part(`post.${run.id}.inputs`, '{"a":"\\r\\n--b"}', 'application/json\r\nContent-Length: 15'),
        part(`post.${run.id}.outputs`, '{"b":"é😀 --"}'),
        part(`attachment.${run.id}.empty`, '', 'application/octet-stream; length=0'),
      ),
    );
    const pieces = Array.from({ length: Math.ceil(body.length / bytes) }, (_, index) =>
      body.subarray(index * bytes, (index + 1) * bytes),
    );
    const answer = await request(`${api.url}/runs/multipart`, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary="b"' },
      body: Readable.from(pieces),
    });
    expect([answer.statusCode, await answer.body.json()]).toEqual([202, { message: 'Runs stored' }]);
    expect(await read(run.id)).toMatchObject({ inputs: { a: '\r\n--b' }, outputs: { b: 'é😀 --' } });
  });

  it('accepts the bare paths that the deployment API shares from trace clients only', async () => {
    const run = newRun();
    const client = { 'user-agent': 'langsmith-py/0.14.17-httpx' };
    expect((await send('POST', '/runs', run)).status).toBe(422);
    expect((await send('POST', '/runs/batch', { post: [run] })).status).toBe(422);
    expect((await send('POST', '/runs', run, client)).status).toBe(202);
    const patch = { ...run, outputs: { a: 1 }, end_time: '2026-11-20T10:00:01Z' };
    expect((await send('POST', '/runs/batch', { patch: [patch] }, client)).status).toBe(202);
    expect((await fetch(`${api.url}/runs/${run.id}`)).status).toBe(404);
    const { status, body } = await send('GET', `/runs/${run.id}?exclude_serialized=true`, undefined, client);
    expect([status, body]).toEqual([200, expect.objectContaining({ id: run.id, outputs: { a: 1 } })]);
  });

  it('stores nothing of an upload whose connection breaks', async () => {
    const run = newRun();
    const body = multipartBody(part(`post.${run.id}`, JSON.stringify(run)), part(`post.${run.id}.inputs`, '{"a":1}'));
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const head = `POST /runs/multipart HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n`;
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, -20)}`);
    socket.end();
    socket.resume();
    await once(socket, 'close');
    expect((await send('GET', `/api/v1/runs/${run.id}`)).status).toBe(404);
    expect((await upload(body)).status).toBe(202);
  });

  it('records when a run was first received, and when it last changed', async () => {
    const run = newRun();
    const times = async () => {
      const { rows } = await db.query<{ received_at: Date; updated_at: Date }>(
        'SELECT received_at, updated_at FROM trace_runs WHERE run_id = $1',
        [run.id],
      );
      return rows[0]!;
    };
    await send('POST', '/api/v1/runs', run);
    const posted = await times();
    expect(posted.received_at).toEqual(posted.updated_at);
    await send('POST', '/api/v1/runs', run);
    expect(await times()).toEqual(posted);
    await send('PATCH', `/runs/${run.id}`, { ...run, outputs: { a: 1 }, end_time: '2026-11-20T10:00:01Z' });
    const patched = await times();
    expect(patched.received_at).toEqual(posted.received_at);
    expect(patched.updated_at.getTime()).toBeGreaterThan(posted.updated_at.getTime());
  });

  it('records when a run was written, however long its transaction had waited before', async () => {
    const run = newRun();
    await db.query('BEGIN');
    await db.query('INSERT INTO trace_run_keys (tenant_id, run_id) VALUES ($1, $2)', [TENANT, run.id]);
    const sent = send('POST', '/api/v1/runs', run);
    const waiting = `SELECT FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted`;
    await waitFor('the upload to wait for the key', async () => (await db.query(waiting)).rowCount === 1);
    const { rows: moments } = await db.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    await db.query('ROLLBACK');
    expect((await sent).status).toBe(202);
    const { rows: runs } = await db.query<{ received_at: Date }>(
      'SELECT received_at FROM trace_runs WHERE run_id = $1',
      [run.id],
    );
    expect(runs[0].received_at.getTime()).toBeGreaterThanOrEqual(moments[0].now.getTime());
  });

  it('compresses what is large, and leaves what is small unchanged', async () => {
    const storedBytes = async (inputs: string): Promise<number> => {
      const run = newRun({ inputs: { inputs } });
      expect((await send('POST', '/api/v1/runs', run)).status).toBe(202);
      const { rows } = await db.query<{ bytes: number }>(
        'SELECT pg_column_size(inputs) AS bytes FROM trace_runs WHERE run_id = $1',
        [run.id],
      );
      return rows[0]!.bytes;
    };
    expect(await storedBytes('what was said '.repeat(5_000))).toBeLessThan(7_000);
    expect(await storedBytes('what was said '.repeat(200))).toBeGreaterThan(2_800);
  });

  it('holds a patch without time and project until the post arrives', async () => {
    const id = randomUUID();
    expect((await send('PATCH', `/runs/${id}`, { outputs: { a: 1 }, end_time: '2026-11-20T10:00:02Z' })).status).toBe(
      202,
    );
    expect((await send('GET', `/api/v1/runs/${id}`)).status).toBe(404);
    const run = newRun({ id, trace_id: id, dotted_order: undefined });
    await send('POST', '/api/v1/runs', run);
    expect(await read(id)).toMatchObject({
      outputs: { a: 1 },
      status: 'success',
      dotted_order: `20261120T100000123456Z${id}`,
    });
  });

  it('moves a run to the day that its post names', async () => {
    const run = newRun({ start_time: '2026-11-18T23:59:59.999999Z' });
    const early = {
      id: run.id,
      trace_id: run.id,
      session_name: 'ingest',
      end_time: '2026-11-20T10:00:02Z',
      outputs: { a: 1 },
    };
    expect((await send('POST', '/api/v1/runs/batch', { patch: [early] })).status).toBe(202);
    expect((await read(run.id)).status).toBe('success');
    expect((await send('POST', '/api/v1/runs/batch', { post: [{ ...run, dotted_order: undefined }] })).status).toBe(
      202,
    );
    expect(await read(run.id)).toMatchObject({
      start_time: '2026-11-18T23:59:59.999999',
      outputs: { a: 1 },
      name: 'run',
    });
    const { rows } = await db.query('SELECT count(*)::int AS n FROM trace_runs WHERE run_id = $1', [run.id]);
    expect(rows).toEqual([{ n: 1 }]);
  });

  it('gives the children of clients that send no position their place in the tree', async () => {
    const run = newRun();
    const child = newRun({ parent_run_id: run.id, trace_id: undefined, dotted_order: undefined });
    const grandchild = newRun({ parent_run_id: child.id, trace_id: undefined, dotted_order: undefined });
    await send('POST', '/api/v1/runs', { ...run, trace_id: undefined, dotted_order: undefined });
    await send('POST', '/api/v1/runs/batch', { post: [child, grandchild] });
    expect(await read(grandchild.id)).toMatchObject({ trace_id: run.id, parent_run_ids: [run.id, child.id] });
  });

  it('is idempotent, and a conflicting repetition destroys nothing', async () => {
    const run = newRun({ inputs: { a: 1 } });
    const post = { post: [run] };
    const patch = { patch: [{ id: run.id, outputs: { b: 1 }, end_time: '2026-11-20T10:00:02Z' }] };
    for (const body of [
      post,
      patch,
      post,
      patch,
      { post: [{ ...run, name: 'other', inputs: { z: 9 }, outputs: {} }] },
    ]) {
      expect((await send('POST', '/api/v1/runs/batch', body)).status).toBe(202);
    }
    expect(await read(run.id)).toMatchObject({ name: 'run', inputs: { a: 1 }, outputs: { b: 1 }, status: 'success' });
    expect((await send('POST', '/api/v1/runs', { ...run, session_name: 'elsewhere' })).status).toBe(202);
    expect((await send('GET', '/sessions?name=elsewhere')).body).toHaveLength(1);
    expect((await send('POST', '/runs/query', { id: [run.id] })).body.runs).toHaveLength(1);
  });

  it('takes a later patch without end_time for a correction, and a repeated end changes nothing after it', async () => {
    const run = newRun({ tags: ['begun'] });
    const end = { ...run, outputs: { usage: 'long' }, tags: ['ended'], end_time: '2026-11-20T10:00:02Z' };
    await send('POST', '/api/v1/runs', run);
    await send('POST', '/api/v1/runs/batch', { patch: [end] });
    expect((await send('PATCH', `/runs/${run.id}`, { outputs: { a: 1 }, tags: [] })).status).toBe(202);
    await send('POST', '/api/v1/runs/batch', { patch: [end] });
    expect(await read(run.id)).toMatchObject({ outputs: { a: 1 }, tags: ['ended'], status: 'success' });
    const other = newRun();
    const patches = [{ ...end, id: other.id, trace_id: other.id, dotted_order: other.dotted_order }];
    await send('POST', '/api/v1/runs/batch', {
      post: [other],
      patch: [...patches, { id: other.id, outputs: { b: 1 } }],
    });
    expect(await read(other.id)).toMatchObject({ outputs: { b: 1 } });
  });

  it('stores the same row for every interleaving of the same operations', async () => {
    const template = newRun({ inputs: { question: 1 }, outputs: {}, events: [], extra: { metadata: { a: 1 } } });
    const operations = (id: string): [string, Json][] => {
      const dottedOrder = `20261120T100000123456Z${id}`;
      const identity = { id, trace_id: id, dotted_order: dottedOrder, session_name: 'ingest' };
      return [
        ['post', { ...template, ...identity }],
        [
          'patch',
          { ...identity, outputs: { first: true }, end_time: '2026-11-20T10:00:03Z', extra: { metadata: { b: 2 } } },
        ],
        ['patch', { ...identity, outputs: { second: true }, end_time: '2026-11-20T10:00:04Z', tags: null, extra: {} }],
        ['patch', { id, tags: ['late'], error: null }],
      ];
    };
    const rows = new Set<string>();
    // Each operation once, then some again, cut into requests anywhere.
    const indices = [0, 1, 2, 3];
    const interleaving = fc.record({
      order: fc.shuffledSubarray(indices, { minLength: indices.length }),
      again: fc.array(fc.constantFrom(...indices), { maxLength: 4 }),
      cuts: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(interleaving, async ({ order, again, cuts }) => {
        const id = uuidv7();
        const all = operations(id);
        const requests: number[][] = [];
        for (const [position, index] of [...order, ...again].entries()) {
          if (position === 0 || cuts[position]) requests.push([index]);
          else requests.at(-1)?.push(index);
        }
        for (const request of requests) {
          const body: Record<string, Json[]> = { post: [], patch: [] };
          for (const index of request) {
            const [kind, operation] = all[index];
            body[kind]?.push(operation);
          }
          expect((await send('POST', '/api/v1/runs/batch', body)).status).toBe(202);
        }
        const { rows: found } = await db.query<Json>('SELECT * FROM trace_runs WHERE run_id = $1', [id]);
        expect(found).toHaveLength(1);
        // The rank of the tags has the time at which they were received.
        const { received_at: _received, updated_at: _updated, merge_ranks: _ranks, ...row } = found[0];
        rows.add(JSON.stringify(row).replaceAll(id, 'ID'));
        expect([...rows]).toHaveLength(1);
      }),
      { numRuns: 60, seed: jest.getSeed() },
    );
    expect(JSON.parse([...rows][0])).toMatchObject({
      name: 'run',
      status: 'success',
      inputs: '{"question":1}',
      outputs: '{"second":true}',
      extra: '{"metadata":{"b":2}}',
      end_time: '2026-11-20T10:00:04.000Z',
      tags: ['late'],
    });
  });

  it('merges concurrent requests that carry the same runs', async () => {
    const runs = Array.from({ length: 20 }, () => newRun());
    const patches = runs.map(({ id }) => ({ id, outputs: { done: id }, end_time: '2026-11-20T10:00:04Z' }));
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        send('POST', '/api/v1/runs/batch', index % 2 === 0 ? { post: runs } : { patch: [...patches].reverse() }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    const { body } = await send('POST', '/runs/query', { id: runs.map(({ id }) => id) });
    expect((body.runs as Json[]).map(({ status, outputs }) => [status, outputs])).toEqual(
      (body.runs as Json[]).map(({ id }) => ['success', { done: id }]),
    );
    expect(body.runs).toHaveLength(20);
  });

  it.each([
    ['start_time must be an ISO 8601 timestamp', { start_time: 'yesterday' }, 'start_time'],
    ['a far future', { start_time: '9999-01-01T00:00:00Z' }, 'start_time'],
    [
      'another run in dotted_order',
      { dotted_order: '20261120T100000123456Z00000000-0000-0000-0000-000000000000' },
      'dotted_order',
    ],
    ['an unknown project', { session_id: randomUUID() }, 'session_id'],
    ['an invalid id', { id: 'x' }, 'id'],
    ['tags that are not a list', { tags: 'x' }, 'tags'],
  ])('answers 422 naming the field: %s', async (_title, fields, field) => {
    const { status, body } = await send('POST', '/api/v1/runs', { ...newRun(), ...fields });
    expect(status).toBe(422);
    expect(body.errors).toEqual([expect.objectContaining({ path: field })]);
  });

  it('reports what is wrong with an upload', async () => {
    const run = newRun();
    const good = part(`post.${run.id}`, JSON.stringify(run));
    const statusOf = async (body: string | Buffer, headers?: Record<string, string>) =>
      (await upload(body, headers)).status;
    expect(await statusOf(multipartBody(good, part(`post.${run.id}.inputs`, '{"a":')))).toBe(422);
    expect(await statusOf(multipartBody(good, part('elsewhere', '{}')))).toBe(422);
    expect(await statusOf(multipartBody(good, part(`post.${run.id}.unknown`, '{}')))).toBe(422);
    expect(await statusOf(good)).toBe(422);
    expect(await statusOf(multipartBody(good), { 'content-type': 'multipart/form-data' })).toBe(422);
    expect(await statusOf(JSON.stringify(run), { 'content-type': 'application/json' })).toBe(422);
    expect(await statusOf('no gzip', { 'content-encoding': 'gzip' })).toBe(400);
    expect(await statusOf('x', { 'content-encoding': 'br' })).toBe(415);
    expect(await statusOf('no zstd', { 'content-encoding': 'zstd' })).toBe(400);
    // A window of 16 MB; then 128 KB out of four bytes, again and again.
    const zstd = (...bytes: number[]): Buffer => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, ...bytes]);
    const wide = await upload(zstd(14 << 3, 1, 0, 0), { 'content-encoding': 'zstd' });
    expect([wide.status, wide.body.detail]).toEqual([400, expect.stringContaining('window')]);
    const bomb = zstd(7 << 3, ...Array.from({ length: 500 }, () => [0x02, 0x00, 0x10, 0x20]).flat());
    // Refused for what it begins with, or for its size: whichever is seen first.
    expect([413, 422]).toContain(await statusOf(bomb, { 'content-encoding': 'zstd' }));
    const big = multipartBody(good, part(`post.${run.id}.inputs`, JSON.stringify({ text: 'x'.repeat(300_000) })));
    expect(await statusOf(big)).toBe(413);
    expect(await statusOf(gzipSync(big), { 'content-encoding': 'gzip' })).toBe(413);
    expect(await statusOf(zstdCompressSync(big), { 'content-encoding': 'zstd' })).toBe(413);
    expect((await send('GET', `/api/v1/runs/${run.id}`)).status).toBe(404);
    expect(await statusOf(multipartBody(good))).toBe(202);
  });

  it('refuses an upload that would create more than a hundred partitions', async () => {
    const post = Array.from({ length: 101 }, (_, index) =>
      newRun({ start_time: new Date(Date.UTC(2001, 0, 1 + index)).toISOString(), dotted_order: undefined }),
    );
    const { status, body } = await send('POST', '/api/v1/runs/batch', { post });
    expect([status, body.errors]).toEqual([422, [expect.objectContaining({ path: 'start_time' })]]);
    const { rows } = await db.query(`SELECT FROM pg_class WHERE relname LIKE 'trace_runs_2001%'`);
    expect(rows).toHaveLength(0);
  });

  it('creates a partition for each day, also concurrently, and keeps the rows of a day', async () => {
    const days = ['2026-01-31', '2026-02-01', '2026-02-28', '2026-03-01'];
    const runs = days.flatMap((day) => [
      newRun({ start_time: `${day}T00:00:00Z`, dotted_order: undefined }),
      newRun({ start_time: `${day}T23:59:59.999999Z`, dotted_order: undefined }),
    ]);
    const answers = await Promise.all(runs.map((run) => send('POST', '/api/v1/runs', run)));
    expect(answers.map(({ status }) => status)).toEqual(runs.map(() => 202));
    const { rows } = await db.query(
      `SELECT tableoid::regclass::text AS day, count(*)::int AS n FROM trace_runs WHERE run_id = ANY ($1) GROUP BY 1 ORDER BY 1`,
      [runs.map(({ id }) => id)],
    );
    expect(rows).toEqual(days.map((day) => ({ day: `trace_runs_${day.replaceAll('-', '')}`, n: 2 })));
  });
});
