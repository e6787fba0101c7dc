import { createHash } from 'node:crypto';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';

/** A run that is due in an hour: the tests check its row, and need no worker. */
const body = { assistant_id: 'three', input: { step_ms: 1 }, after_seconds: 3600 };

/** Answered at once: no worker executes its run. */
const a2aCall = (value: number): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'message/send',
  params: {
    message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'data', data: { value } }] },
    configuration: { blocking: false },
  },
});

describe('Idempotency-Key', () => {
  let api: TestApi;
  /** Another replica on the same database. */
  let replica: TestApi;
  let keys = 0;

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS });
    replica = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS }, api.database);
  });

  afterAll(async () => {
    await replica?.close();
    await api?.close();
  });

  const newKey = (): string => `key-${(keys += 1)}`;

  async function post(path: string, payload: unknown, key?: string, to = api) {
    const response = await fetch(to.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
      body: JSON.stringify(payload),
    });
    const text = await response.text();
    return {
      status: response.status,
      replayed: response.headers.get('idempotency-replayed'),
      body: JSON.parse(text) as { run_id: string; thread_id: string; detail?: string },
    };
  }

  const createThread = async (): Promise<string> => (await post('/threads', {})).body.thread_id;

  const countRuns = async (thread: string): Promise<number> => {
    const database = api.app.get<DataSource>(getDataSourceToken());
    const [row]: { n: number }[] = await database.query('SELECT count(*)::int AS n FROM runs WHERE thread_id = $1', [
      thread,
    ]);
    return row.n;
  };

  it('returns the first answer again, and marks it', async () => {
    const thread = await createThread();
    const key = newKey();
    const first = await post(`/threads/${thread}/runs`, body, key);
    expect(first).toMatchObject({ status: 200, replayed: null });
    const again = await post(`/threads/${thread}/runs`, body, key);
    expect(again).toEqual({ ...first, replayed: 'true' });
    expect(await countRuns(thread)).toBe(1);
  });

  it('applies on every replica, in both spellings, and to stateless runs', async () => {
    const thread = await createThread();
    const key = newKey();
    const first = await post(`/threads/${thread}/runs`, body, key);
    expect(await post(`/threads/${thread}/runs`, body, key, replica)).toMatchObject({
      replayed: 'true',
      body: { run_id: first.body.run_id },
    });
    expect(await post(`/thread/${thread}/runs`, body, key)).toMatchObject({ body: { run_id: first.body.run_id } });
    const stateless = await post('/runs', body, key);
    expect(stateless).toMatchObject({ status: 200, replayed: null });
    expect(await post('/runs', body, key, replica)).toMatchObject({
      replayed: 'true',
      body: { run_id: stateless.body.run_id, thread_id: stateless.body.thread_id },
    });
  });

  it('creates one run for many concurrent requests', async () => {
    const thread = await createThread();
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        post(`/threads/${thread}/runs`, body, key, index % 2 === 0 ? api : replica),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(new Set(answers.map((answer) => answer.body.run_id)).size).toBe(1);
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
    expect(await countRuns(thread)).toBe(1);
  });

  it('is a 409 with another body, and a separate key on another thread', async () => {
    const thread = await createThread();
    const key = newKey();
    await post(`/threads/${thread}/runs`, body, key);
    const other = await post(`/threads/${thread}/runs`, { ...body, input: { step_ms: 2 } }, key);
    expect(other).toMatchObject({ status: 409, body: { detail: expect.stringContaining('another body') } });
    const elsewhere = await post(`/threads/${await createThread()}/runs`, body, key);
    expect(elsewhere).toMatchObject({ status: 200, replayed: null });
    expect(await countRuns(thread)).toBe(1);
  });

  it('is not used up by a request that was refused', async () => {
    const key = newKey();
    const missing = '7e4d2c3b-0000-4000-8000-00000000000a';
    const refused = await fetch(`${api.url}/threads/${missing}/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
    });
    expect(refused.status).toBe(404);
    await post('/threads', { thread_id: missing });
    expect(await post(`/threads/${missing}/runs`, body, key)).toMatchObject({ status: 200, replayed: null });
  });

  describe.each<[string, string, object, object]>([
    ['a run', '/runs', body, { ...body, input: { step_ms: 2 } }],
    ['a task of A2A', '/a2a/three', a2aCall(1), a2aCall(2)],
  ])('of %s', (_, path, first, second) => {
    /** Digests that anyone who reads the table could compute from a body. */
    const plainFingerprint = (sent: object): Buffer =>
      createHash('sha256')
        .update(JSON.stringify('params' in sent ? sent.params : sent))
        .digest();

    it('keeps no fingerprint by which a body can be guessed', async () => {
      const key = newKey();
      await post(path, first, key);
      const database = api.app.get<DataSource>(getDataSourceToken());
      const rows: unknown[] = await database.query('SELECT fingerprint FROM idempotency_keys WHERE key = $1', [key]);
      expect(rows).toEqual([{ fingerprint: expect.any(Buffer) }]);
      expect(rows).not.toEqual([{ fingerprint: plainFingerprint(first) }]);
    });

    it('is known from an earlier release, which kept plain fingerprints', async () => {
      const key = newKey();
      const earlier = await post(path, first, key);
      const database = api.app.get<DataSource>(getDataSourceToken());
      await database.query('UPDATE idempotency_keys SET fingerprint = $2 WHERE key = $1', [
        key,
        plainFingerprint(first),
      ]);
      const again = await post(path, first, key, replica);
      expect(again).toEqual({ ...earlier, replayed: 'true' });
      expect(JSON.stringify((await post(path, second, key)).body)).toContain('another body');
    });
  });

  it('has a maximum length', async () => {
    expect((await post('/runs', body, 'k'.repeat(255))).status).toBe(200);
    expect((await post('/runs', body, 'k'.repeat(256))).status).toBe(422);
  });

  it('changes nothing where there is none', async () => {
    const thread = await createThread();
    await post(`/threads/${thread}/runs`, body);
    await post(`/threads/${thread}/runs`, body);
    expect(await countRuns(thread)).toBe(2);
  });
});
