import { Gantry, startGantry } from '../support/gantry';
import { describeInBothLanguages, EXAMPLES_IN_BOTH_LANGUAGES } from '../support/languages';
import { type SseEvent, SseReader } from '../support/sse';

const json = { 'content-type': 'application/json' };
const greeting = { messages: [{ role: 'human', content: 'hello' }] };
/** Longer than the interval of heartbeats, which is 5 s. */
const SILENT_STEP_MS = 11_000;

/** The wire format that the clients hide: paths, headers, framing, browsers. */
describe('the wire', () => {
  let gantry: Gantry;

  beforeAll(async () => {
    gantry = await startGantry({ graphProcesses: 1, graphs: EXAMPLES_IN_BOTH_LANGUAGES });
  });

  afterAll(() => gantry?.stop());

  const post = (path: string, body: unknown, headers: Record<string, string> = json): Promise<Response> =>
    fetch(gantry.url + path, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  async function createThread(): Promise<string> {
    const response = await post('/threads', {});
    expect(response.status).toBe(200);
    return ((await response.json()) as { thread_id: string }).thread_id;
  }

  describeInBothLanguages('of runs of graphs in $language', ({ named }) => {
    const agent = named('agent');

    it.each(['thread', 'threads'])('reaches the same handlers under /%s/{id}', async (segment) => {
      const thread = await createThread();
      const body = { assistant_id: agent, input: greeting, stream_mode: 'updates' };
      const stream = await SseReader.post(`${gantry.url}/${segment}/${thread}/runs/stream`, body);
      expect(stream.response.status).toBe(200);
      const events = await stream.rest();
      expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(['metadata', 'updates']));
      const waited = await post(`/${segment}/${thread}/runs/wait`, body);
      expect(waited.status).toBe(200);
      expect(await waited.json()).toHaveProperty('messages');
      const created = await post(`/${segment}/${thread}/runs`, body);
      expect(created.status).toBe(200);
      const { run_id } = (await created.json()) as { run_id: string };
      const read = await fetch(`${gantry.url}/${segment}/${thread}/runs/${run_id}/join`);
      expect(read.status).toBe(200);
      expect(await read.json()).toHaveProperty('messages');
    });

    it('allows a stateless run to be rejoined at the address in its headers', async () => {
      const stream = await SseReader.post(`${gantry.url}/runs/stream`, { assistant_id: agent, input: greeting });
      const live = await stream.rest();
      const location = stream.response.headers.get('location')!;
      expect(location).toMatch(/^\/runs\/[0-9a-f-]{36}\/stream$/);
      const again = await SseReader.get(gantry.url + location, { 'last-event-id': '-1' });
      expect(await again.rest()).toEqual(live);
    });

    it('numbers the frames from 0 without gaps, the metadata first', async () => {
      const body = { assistant_id: agent, input: greeting, stream_mode: ['values', 'updates', 'messages', 'events'] };
      const stream = await SseReader.post(`${gantry.url}/runs/stream`, body);
      const events = await stream.rest();
      expect(events[0].event).toBe('metadata');
      expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => String(index)));
    });

    describe('rejoining a finished run', () => {
      let live: SseEvent[];
      let stream: string;

      beforeAll(async () => {
        const thread = await createThread();
        const body = { assistant_id: agent, input: greeting, stream_mode: 'messages-tuple' };
        live = await (await SseReader.post(`${gantry.url}/threads/${thread}/runs/stream`, body)).rest();
        const { run_id } = live[0].data as { run_id: string };
        stream = `${gantry.url}/threads/${thread}/runs/${run_id}/stream`;
      });

      it.each([
        [undefined, 0],
        ['-1', 0],
        ['', 0],
        ['not-an-id-of-ours', 0],
        ['0', 1],
        ['2', 3],
        ['100000', Infinity],
      ])('with Last-Event-ID %p begins at event %p', async (lastEventId, first) => {
        const headers: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
        const again = await SseReader.get(stream, headers);
        expect(await again.rest()).toEqual(live.slice(Math.min(first, live.length)));
      });
    });
  });

  it('treats null as an absent field', async () => {
    const body = { assistant_id: 'agent', input: greeting, config: null, metadata: null, webhook: null };
    expect((await post('/runs/wait', body)).status).toBe(200);
    const command = { update: greeting, resume: null, goto: null };
    expect((await post('/runs/wait', { assistant_id: 'agent', command })).status).toBe(200);
  });

  it('reports the addresses of the run and its stream', async () => {
    const thread = await createThread();
    const body = { assistant_id: 'agent', input: greeting };
    const stream = await SseReader.post(`${gantry.url}/threads/${thread}/runs/stream`, body);
    const [metadata] = await stream.rest();
    const { run_id } = metadata.data as { run_id: string };
    const path = `/threads/${thread}/runs/${run_id}`;
    expect(stream.response.headers.get('content-location')).toBe(path);
    expect(stream.response.headers.get('location')).toBe(`${path}/stream`);
    expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(stream.response.headers.get('cache-control')).toBe('no-store');

    const created = await post(`/threads/${thread}/runs`, body);
    const run = (await created.json()) as { run_id: string };
    expect(created.headers.get('content-location')).toBe(`/threads/${thread}/runs/${run.run_id}`);
    const waited = await post(`/threads/${thread}/runs/wait`, body);
    expect(waited.headers.get('location')).toMatch(new RegExp(`^/threads/${thread}/runs/[0-9a-f-]{36}/join$`));
    await waited.text();
  });

  it('reports addresses with what the request chose, so that a client that lost the connection gets the same', async () => {
    const body = { assistant_id: 'agent', input: greeting, stream_mode: ['values', 'updates'] };
    const cancelling = { ...body, on_disconnect: 'cancel' };
    const thread = await createThread();
    for (const runs of [`/threads/${thread}/runs`, '/runs']) {
      const namespace = encodeURIComponent('[""]');
      const stream = await SseReader.post(`${gantry.url}${runs}/stream?namespace=${namespace}`, cancelling);
      const [metadata] = await stream.rest();
      const path = `${runs}/${(metadata.data as { run_id: string }).run_id}`;
      expect(stream.response.headers.get('content-location')).toBe(path);
      const started = stream.response.headers.get('location')!;
      expect(started).toBe(`${path}/stream?cancel_on_disconnect=1&namespace=${namespace}`);

      const again = await SseReader.get(`${gantry.url}${path}/stream?stream_mode=updates`);
      const updates = await again.rest();
      expect(updates.map(({ event }) => event)).toEqual(updates.map(() => 'updates'));
      const rejoined = again.response.headers.get('location')!;
      expect(rejoined).toBe(`${path}/stream?stream_mode=${encodeURIComponent('["updates"]')}`);
      const once = await SseReader.get(gantry.url + rejoined);
      expect(await once.rest()).toEqual(updates);
      expect(once.response.headers.get('location')).toBe(rejoined);
      // As older clients do, which add their parameters to those of the address.
      const twice = await SseReader.get(`${gantry.url}${rejoined}&stream_mode=updates&cancel_on_disconnect=0`);
      expect(await twice.rest()).toEqual(updates);

      const waited = await post(`${runs}/wait`, cancelling);
      const joined = waited.headers.get('location')!;
      expect(joined).toMatch(/\/join\?cancel_on_disconnect=1$/);
      const result: unknown = await waited.json();
      const join = await fetch(gantry.url + joined);
      expect(join.headers.get('location')).toBe(joined);
      expect(await join.json()).toEqual(result);
    }
  });

  it('adapts to slow readers: they delay no other client, and do not keep the log in memory', async () => {
    const [states, stateBytes, readers] = [100, 1_000_000, 8];
    const thread = await createThread();
    const body = { assistant_id: 'agent', input: greeting };
    const { run_id } = (await (await post(`/threads/${thread}/runs`, body)).json()) as { run_id: string };
    const path = `${gantry.url}/threads/${thread}/runs/${run_id}`;
    await (await fetch(`${path}/join`)).text();
    // Inserts events, as if the graph had emitted many large states.
    const end = await gantry.sql.query<{ seq: number; tenant_id: string }>(
      `UPDATE run_events SET seq = seq + $2 WHERE run_id = $1 AND event = '__end__' RETURNING seq, tenant_id`,
      [run_id, states],
    );
    const [{ seq, tenant_id }] = end.rows;
    await gantry.sql.query(
      `INSERT INTO run_events (run_id, tenant_id, event, data, seq)
       SELECT $1, $2, 'values', to_json(repeat('x', $3))::text, generate_series($4::int - $5::int, $4::int - 1)`,
      [run_id, tenant_id, stateBytes, seq, states],
    );
    const memory = async (): Promise<number> => {
      const exposition = await (await fetch(`${gantry.url}/metrics`)).text();
      return Number(/^process_resident_memory_bytes (\S+)/m.exec(exposition)![1]);
    };

    const before = await memory();
    const open = (): Promise<SseReader> => SseReader.get(`${path}/stream`, { 'last-event-id': '-1' });
    const slow = await Promise.all(Array.from({ length: readers }, open));
    const all = Array.from({ length: seq }, (_, index) => String(index));
    expect((await (await open()).rest()).map(({ id }) => id)).toEqual(all);
    // Half of what the slow ones would hold if their logs were read for them.
    expect((await memory()) - before).toBeLessThan((readers * states * stateBytes) / 2);
    const [first, ...others] = slow;
    expect((await first.rest()).map(({ id }) => id)).toEqual(all);
    await Promise.all(others.map((reader) => reader.close()));
  });

  it('accepts JSON that a browser sends as text/plain', async () => {
    const response = await post('/runs/wait', JSON.stringify({ assistant_id: 'agent', input: greeting }), {
      'content-type': 'text/plain;charset=UTF-8',
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveProperty('messages');
  });

  it('answers a preflight without asking for a key', async () => {
    const response = await fetch(`${gantry.url}/threads/search`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://agentchat.vercel.app',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key,last-event-id',
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toMatch(/PATCH/);
    expect(response.headers.get('access-control-allow-headers')).toMatch(/x-api-key/);
  });

  it.each(['/assistants/search', '/runs/stream'])('exposes its headers to browsers on %s', async (path) => {
    const body = path === '/runs/stream' ? { assistant_id: 'agent', input: greeting } : {};
    const response = await post(path, body, { ...json, origin: 'https://agentchat.vercel.app' });
    await response.text();
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const exposed = response.headers.get('access-control-expose-headers')!.toLowerCase();
    for (const name of ['content-location', 'location', 'x-pagination-total', 'x-pagination-next']) {
      expect(exposed).toContain(name);
    }
  });

  it('reports the exact total of a search, and the next page only when there is one', async () => {
    const first = await post('/assistants/search', { limit: 4 });
    expect(await first.json()).toHaveLength(4);
    expect(first.headers.get('x-pagination-total')).toBe('6');
    expect(first.headers.get('x-pagination-next')).toBe('4');
    const last = await post('/assistants/search', { limit: 4, offset: 4 });
    expect(await last.json()).toHaveLength(2);
    expect(last.headers.get('x-pagination-total')).toBe('6');
    expect(last.headers.get('x-pagination-next')).toBeNull();
  });

  it('keeps idle connections alive: comments in a stream, white space before a late result', async () => {
    const thread = await createThread();
    const body = { assistant_id: 'pipeline', input: { step_ms: SILENT_STEP_MS }, stream_mode: 'updates' };
    const stream = await SseReader.post(`${gantry.url}/threads/${thread}/runs/stream`, body);
    const { run_id } = (await stream.until(({ event }) => event === 'metadata')).at(-1)!.data as { run_id: string };
    const waiting = fetch(`${gantry.url}/threads/${thread}/runs/${run_id}/join`).then((response) => response.text());
    await stream.until(({ event }) => event === 'updates');
    expect(stream.comments).toContain('heartbeat');
    await stream.close();
    const cancelled = await post(`/threads/${thread}/runs/${run_id}/cancel`, {});
    expect(cancelled.status).toBe(202);
    const text = await waiting;
    expect(text.startsWith('\n')).toBe(true);
    expect(JSON.parse(text)).toMatchObject({ done: ['step_1'] });
  });

  it('answers /ok, /info and a deep health check', async () => {
    expect(await (await fetch(`${gantry.url}/ok`)).json()).toMatchObject({ ok: true });
    expect(await (await fetch(`${gantry.url}/ok?check_db=1`)).json()).toEqual({
      ok: true,
      services: { database: 'healthy', temporal: 'healthy' },
    });
    expect(await (await fetch(`${gantry.url}/info`)).json()).toMatchObject({
      version: expect.any(String),
      flags: { assistants: true },
    });
  });

  it('returns the id of its request with each answer, the caller’s own when it sent one', async () => {
    const own = await fetch(`${gantry.url}/ok`, { headers: { 'x-request-id': 'mine-1' } });
    expect(own.headers.get('x-request-id')).toBe('mine-1');
    expect((await fetch(`${gantry.url}/ok`)).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});
