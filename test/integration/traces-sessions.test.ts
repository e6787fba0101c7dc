import { randomUUID } from 'node:crypto';
import { startTestApi, TestApi } from '../support/api';

type Json = Record<string, unknown>;

/** Tracing projects, which the wire calls sessions, from their creation to their end. */
describe('sessions', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  async function send<T = Json>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: Json) {
    const answer = await api.app.inject({ method, url: `/api/v1/sessions${path}`, ...(body && { payload: body }) });
    return { status: answer.statusCode, body: answer.json<T>(), total: answer.headers['x-pagination-total'] };
  }

  it('are created once; with upsert the one that is there is updated and keeps its id and its runs', async () => {
    const id = randomUUID();
    const first = await send('POST', '', {
      id,
      name: 'sales',
      description: 'first',
      extra: { metadata: { team: 'a' } },
    });
    expect([first.status, first.body]).toEqual([
      200,
      expect.objectContaining({ id, name: 'sales', description: 'first' }),
    ]);
    const run = { id: randomUUID(), name: 'r', run_type: 'chain', session_name: 'sales', start_time: Date.now() };
    await api.app.inject({ method: 'POST', url: '/api/v1/runs', payload: run });

    expect((await send('POST', '', { name: 'sales', description: 'second' })).status).toBe(409);
    const again = await send('POST', '?upsert=true', { name: 'sales', description: 'third' });
    expect([again.status, again.body]).toEqual([
      200,
      expect.objectContaining({ id, description: 'third', extra: { metadata: { team: 'a' } } }),
    ]);
    const read = await send('GET', `/${id}?include_stats=true`);
    expect(read.body).toMatchObject({ id, description: 'third', run_count: 1 });
  });

  it('are made by one of many who upsert the same name at the same time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        send('POST', '?upsert=true', { name: 'shared', description: `${index}` }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  it('are listed by name, part of a name, id and metadata, in pages', async () => {
    const made = [];
    for (const name of ['page one', 'page two', 'page three']) {
      made.push((await send('POST', '', { name, extra: { metadata: { name } } })).body);
    }
    const names = async (query: string) => {
      const { body, total } = await send<{ name: string }[]>('GET', `?${query}`);
      return [body.map(({ name }) => name), total];
    };
    expect(await names('name=page%20two')).toEqual([['page two'], '1']);
    expect(await names('name_contains=page%20t&sort_by=name&sort_by_desc=false')).toEqual([
      ['page three', 'page two'],
      '2',
    ]);
    expect(await names('name_contains=page&sort_by=name&sort_by_desc=false&offset=1&limit=1')).toEqual([
      ['page three'],
      '3',
    ]);
    expect(await names(`id=${String(made[0]?.id)}`)).toEqual([['page one'], '1']);
    expect(await names(`metadata=${encodeURIComponent('{"name":"page two"}')}`)).toEqual([['page two'], '1']);
  });

  it('are changed, and a name that is taken stays whose it is', async () => {
    const { body } = await send('POST', '', { name: 'old name' });
    await send('POST', '', { name: 'taken' });
    const changed = await send('PATCH', `/${String(body.id)}`, { name: 'new name', end_time: '2026-11-20T10:00:00Z' });
    expect(changed.body).toMatchObject({ id: body.id, name: 'new name', end_time: '2026-11-20T10:00:00.000000' });
    expect((await send('PATCH', `/${String(body.id)}`, { name: 'taken' })).status).toBe(409);
    expect((await send('PATCH', `/${randomUUID()}`, { name: 'nobody' })).status).toBe(404);
  });

  it('are deleted with their runs', async () => {
    const { body } = await send('POST', '', { name: 'short lived' });
    const run = { id: randomUUID(), name: 'r', run_type: 'chain', session_id: body.id, start_time: Date.now() };
    expect((await api.app.inject({ method: 'POST', url: '/api/v1/runs', payload: run })).statusCode).toBe(202);
    expect((await send('DELETE', `/${String(body.id)}`)).status).toBe(200);
    expect((await send('GET', `/${String(body.id)}`)).status).toBe(404);
    expect((await api.app.inject({ url: `/api/v1/runs/${run.id}` })).statusCode).toBe(404);
    expect((await send('DELETE', `/${String(body.id)}`)).status).toBe(404);
  });

  it.each([
    ['a name without letters', { name: '  ' }, 'name'],
    ['an id that is no UUID', { name: 'x', id: '1' }, 'id'],
    ['a tier that nobody knows', { name: 'x', trace_tier: 'eternal' }, 'trace_tier'],
  ])('answer 422 naming the field: %s', async (_title, body, field) => {
    const answer = await send('POST', '', body);
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).toContain(`"${field}"`);
  });
});
