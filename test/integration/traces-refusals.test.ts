import { randomBytes, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { v7 as uuidv7 } from 'uuid';
import { UploadBudget } from '../../src/traces/ingest/upload-budget';
import { startTestApi, TestApi } from '../support/api';

type Json = Record<string, unknown>;

/** Characters that no compression makes fit into an entry of an index. */
const randomText = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);
const LONG = randomText(5000);
const LONG_INTEGER = '7'.repeat(200_000);
const encoded = (text: string): string => Buffer.from(text).toString('base64url');

function newRun(fields: Json = {}): Json & { id: string } {
  const run = { id: uuidv7(), name: 'run', run_type: 'chain', start_time: '2026-11-20T10:00:00.123456Z' };
  return { ...run, session_name: 'refusals', ...fields };
}

describe('values that cannot be stored or read', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  async function send(method: 'GET' | 'POST', url: string, payload?: Json | string, contentType = 'application/json') {
    const headers = payload === undefined ? {} : { 'content-type': contentType };
    const answer = await api.app.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
    const { errors, code } = answer.json<{ errors?: { path: string }[]; code?: string }>();
    return { status: answer.statusCode, code, paths: errors?.map(({ path }) => path) };
  }
  const upload = (name: string, body: string, type = 'application/json') => {
    const head = `--b\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}`;
    return send('POST', '/runs/multipart', `${head}\r\n\r\n${body}\r\n--b--\r\n`, 'multipart/form-data; boundary=b');
  };
  const withInteger = (value: Json): string => JSON.stringify(value).replace('"N"', LONG_INTEGER);

  it.each([
    ['a thread id', { extra: { metadata: { thread_id: LONG } } }, 'extra.metadata.thread_id'],
    ['a thread id of another name', { extra: { metadata: { session_id: LONG } } }, 'extra.metadata.session_id'],
    ['the name of a project', { session_name: LONG }, 'session_name'],
  ])('are refused with their path: %s of 5,000 characters', async (_title, fields, path) => {
    expect(await send('POST', '/api/v1/runs', newRun(fields))).toMatchObject({ status: 422, paths: [path] });
    const batch = { post: [newRun(), newRun(fields)] };
    expect(await send('POST', '/api/v1/runs/batch', batch)).toMatchObject({ status: 422, paths: [`post.1.${path}`] });
  });

  it('are refused with their path: an attachment’s name of 4,000 characters', async () => {
    const name = `attachment.${uuidv7()}.${randomText(4000)}`;
    expect(await upload(name, 'x', 'text/plain')).toMatchObject({ status: 422, paths: [name] });
  });

  it('are refused with their path: an integer of 200,000 digits', async () => {
    const run = withInteger(newRun({ extra: { metadata: { n: 'N' } } }));
    expect(await send('POST', '/api/v1/runs', run)).toMatchObject({ status: 422, paths: ['extra.metadata'] });
    const id = randomUUID();
    const feedback = withInteger({ run_id: uuidv7(), key: 'k', feedback_source: { type: 'x', metadata: { n: 'N' } } });
    expect(await upload(`feedback.${id}`, feedback)).toMatchObject({
      status: 422,
      paths: [`feedback.${id}.feedback_source`],
    });
  });

  it('are refused by Postgres where no field of theirs is checked', async () => {
    // Below the limit of characters, and above that of an index entry in bytes.
    const wide = Array.from({ length: 990 }, () =>
      String.fromCodePoint(0x4e00 + (randomBytes(2).readUInt16BE() % 20_000)),
    );
    const run = newRun({ extra: { metadata: { thread_id: wide.join('') } } });
    expect(await send('POST', '/api/v1/runs', run)).toMatchObject({ status: 422, code: 'unstorable' });
  });

  it.each([
    ['a date that no calendar has', `2026-99-99T99:99:99.000000Z ${randomUUID()}`],
    ['an id that is no UUID', `2026-11-20T10:00:00.000000Z ${'-'.repeat(36)}`],
  ])('are refused in the cursor of runs: %s', async (_title, text) => {
    const query = { session: [randomUUID()], cursor: encoded(text) };
    expect(await send('POST', '/api/v1/runs/query', query)).toMatchObject({ status: 422, paths: ['cursor'] });
  });

  it('are refused in the cursors of threads and projects', async () => {
    const threads = { project_id: randomUUID(), cursor: encoded('2026-99-99T99:99:99.000000Z x') };
    expect(await send('POST', '/api/v2/threads/query', threads)).toMatchObject({ status: 422, paths: ['cursor'] });
    const cursor = encoded(JSON.stringify(['soon', randomUUID()]));
    expect(await send('GET', `/api/v2/sessions?cursor=${cursor}`)).toMatchObject({ status: 422, paths: ['cursor'] });
  });

  describe('are uploads for which the process has no memory', () => {
    /** Half of what an api holds, all that one tenant may have. */
    const HALF = 128 * 1024 * 1024;
    const small = JSON.stringify({ post: [newRun()] });
    const large = JSON.stringify({ post: [newRun({ inputs: { text: randomText(400_000) } })] });
    let budget: UploadBudget;

    beforeAll(() => {
      budget = api.app.get(UploadBudget);
    });

    async function upload(encoding: string, body: string | Buffer) {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
      const url = `${api.url}/api/v1/runs/batch`;
      const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(Buffer.from(body)) });
      await response.text();
      return [response.status, response.headers.get('retry-after')];
    }
    function expectNothingHeld(): void {
      for (const tenant of ['one', 'another']) budget.take(tenant, HALF);
      for (const tenant of ['one', 'another']) budget.release(tenant, HALF);
    }

    it('until those of other tenants are stored', async () => {
      // They leave half of a body.
      const others = [['one', HALF] as const, ['another', HALF - Math.floor(large.length / 2)] as const];
      for (const [tenant, bytes] of others) budget.take(tenant, bytes);
      expect(await upload('identity', large)).toEqual([503, '1']);
      expect(await upload('gzip', gzipSync(large))).toEqual([503, '1']);
      expect(await upload('identity', small)).toEqual([202, null]);
      for (const [tenant, bytes] of others) budget.release(tenant, bytes);
      for (const _ of [1, 2, 3]) expect(await upload('gzip', gzipSync(large))).toEqual([202, null]);
      expect(await upload('identity', large)).toEqual([202, null]);
      expect(await upload('identity', '{"post":')).toEqual([422, null]);
      expectNothingHeld();
    });

    it('beyond the half that one tenant may have, which leaves the other half to others', async () => {
      const tenantId = api.config.auth.defaultTenantId;
      budget.take(tenantId, HALF);
      expect(await upload('identity', large)).toEqual([503, '1']);
      expect(await upload('identity', small)).toEqual([202, null]);
      budget.take('another', HALF);
      expect(await upload('identity', small)).toEqual([202, null]);
      for (const tenant of [tenantId, 'another']) budget.release(tenant, HALF);
      expect(await upload('identity', large)).toEqual([202, null]);
      expectNothingHeld();
    });
  });

  it.each([1e18, 8e7])('are refused as the expiry of a link: %d hours', async (hours) => {
    const link = { run_id: randomUUID(), feedback_key: 'k', expires_in: { hours } };
    expect((await send('POST', '/api/v1/feedback/tokens', link)).status).toBe(422);
  });
});
