import type { Thread } from '@langchain/langgraph-sdk';
import type { CallToolResult, Client, Progress } from '@modelcontextprotocol/client';
import { Gantry, startGantry } from '../support/gantry';
import { describeLanguages } from '../support/languages';
import { connectMcp, ERAS, type Era, ModernCaller, postMcp } from '../support/mcp';
import { waitFor } from '../support/wait-for';

/** Columns of a run that the caller of a tool can't see. */
interface RunRow {
  run_id: string;
  thread_id: string;
  status: string;
}

/** A thread with its time to live. */
type Shown = Thread & { ttl?: { strategy: string; ttl_minutes: number; expires_at: string } | null };

describeLanguages('MCP of graphs in $language', ({ graphs }) => {
  let gantry: Gantry;
  const clients: Client[] = [];

  beforeAll(async () => {
    gantry = await startGantry({ graphs, graphProcesses: 1 });
  });

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

  afterAll(() => gantry?.stop());

  async function connect(...[era, options]: [Era, Partial<Parameters<typeof connectMcp>[1]>?]): Promise<Client> {
    const client = await connectMcp(gantry.url, { era, ...options });
    clients.push(client);
    return client;
  }

  const callOf = (client: Client, name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> =>
    client.callTool({ name, arguments: args });

  const textOf = ({ content }: CallToolResult): string => (content[0] as { text: string }).text;

  async function lastRun(): Promise<RunRow> {
    const { rows } = await gantry.sql.query<RunRow>('SELECT * FROM runs ORDER BY created_at DESC LIMIT 1');
    return rows[0];
  }

  async function shownThread(threadId: string): Promise<Shown> {
    return gantry.client().threads.get(threadId, { include: ['ttl'] });
  }

  describe.each(ERAS)('of %s, with the public client', (era) => {
    it('lists every assistant with its input and output schemas', async () => {
      const client = await connect(era);
      // While schemas are being read, tools are listed without them.
      const { tools, nextCursor } = await waitFor('the schemas of all tools', async () => {
        const listed = await client.listTools();
        const late = listed.tools.find(({ name, outputSchema }) => name === 'talk' && outputSchema === undefined);
        return !late && listed;
      });
      expect(nextCursor).toBeUndefined();
      const sleep = tools.find(({ name }) => name === 'sleep');
      expect(sleep).toMatchObject({
        title: 'sleep',
        inputSchema: { type: 'object', properties: { sleep_ms: { type: 'number' }, note: { type: 'string' } } },
        outputSchema: { type: 'object', properties: { note: { type: 'string' } } },
      });
      expect(tools.find(({ name }) => name === 'talk')).toMatchObject({
        inputSchema: { properties: { messages: { type: 'string' } } },
        outputSchema: { properties: { messages: { type: 'array', items: { type: 'object' } } } },
      });
    });

    it('runs an assistant and gives its output as JSON, twice', async () => {
      const client = await connect(era);
      await client.listTools(); // from here on the client checks results against the schemas
      const result = await callOf(client, 'sleep', { sleep_ms: 1, note: 'it' });
      expect(result.isError).toBeFalsy();
      expect(result.structuredContent).toEqual({ sleep_ms: 1, note: 'it slept' });
      expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
    });

    it('accepts a text in place of messages', async () => {
      const result = await callOf(await connect(era), 'talk', { messages: 'hello' });
      const { messages } = result.structuredContent as { messages: { type: string; content: string }[] };
      expect(messages.map(({ type }) => type)).toEqual(['human', 'ai']);
      expect(messages[0].content).toBe('hello');
    });

    it('creates a run like every other: stored, with its source', async () => {
      await callOf(await connect(era), 'sleep');
      const { run_id, status } = await lastRun();
      expect(status).toBe('success');
      const { metadata } = (await (await fetch(`${gantry.url}/runs/${run_id}`)).json()) as { metadata: object };
      expect(metadata).toMatchObject({ source: 'mcp', mcp_tool: 'sleep' });
    });

    it('reports its progress, in increasing numbers, with the nodes', async () => {
      const client = await connect(era);
      const seen: Progress[] = [];
      const result = await client.callTool(
        { name: 'three', arguments: { step_ms: 20 } },
        { onprogress: (progress) => seen.push(progress) },
      );
      expect(result.structuredContent).toMatchObject({ done: ['node_1', 'node_2', 'node_3'] });
      expect(seen.map(({ message }) => message)).toEqual(['node_1', 'node_2', 'node_3']);
      expect(seen.map(({ progress }) => progress)).toEqual([0, 1, 2]);
    });

    it('streams the text of a model as it is generated', async () => {
      const client = await connect(era);
      const seen: Progress[] = [];
      await client.callTool(
        { name: 'talk', arguments: { messages: 'hello' } },
        { onprogress: (progress) => seen.push(progress) },
      );
      expect(seen.map(({ message }) => message).join('')).toContain('one two three four five six seven eight nine ten');
    });

    it('ends the run when the client cancels', async () => {
      const client = await connect(era);
      const cancelling = new AbortController();
      const call = client.callTool({ name: 'sleep', arguments: { sleep_ms: 60_000 } }, { signal: cancelling.signal });
      call.catch(() => undefined);
      const { run_id } = await waitFor('the run', async () => {
        const run = await lastRun();
        return run?.status === 'running' && run;
      });
      cancelling.abort('enough');
      await expect(call).rejects.toThrow();
      await waitFor('its end', async () => {
        const { rows } = await gantry.sql.query<RunRow>('SELECT * FROM runs WHERE run_id = $1', [run_id]);
        return rows[0].status === 'interrupted';
      });
    });

    it('answers -32602 for a tool that does not exist', async () => {
      await expect(callOf(await connect(era), 'nobody')).rejects.toMatchObject({
        code: -32_602,
        message: expect.stringContaining('Unknown tool: nobody'),
      });
    });

    it('reports invalid arguments to the model, and starts no run', async () => {
      const before = await gantry.sql.query('SELECT count(*) FROM runs');
      const result = await callOf(await connect(era), 'sleep', { sleep_ms: 'long' });
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain('sleep_ms');
      expect((await gantry.sql.query('SELECT count(*) FROM runs')).rows).toEqual(before.rows);
    });

    it('reports the graph’s exception to the model', async () => {
      const result = await callOf(await connect(era), 'fail', { message: 'The printer is on fire' });
      expect(result).toMatchObject({ isError: true });
      expect(textOf(result)).toBe('TypeError: The printer is on fire');
    });

    it('asks the user the graph’s question, and continues with the answer', async () => {
      const client = await connect(era, { capabilities: { elicitation: { form: {} } } });
      const asked: unknown[] = [];
      client.setRequestHandler('elicitation/create', ({ params }) => {
        asked.push(params);
        return { action: 'accept', content: { answer: 'by all means' } };
      });
      const result = await callOf(client, 'ask', { question: 'Shall I?' });
      expect(asked).toMatchObject([
        { message: 'Shall I?', requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } } },
      ]);
      expect(result.structuredContent).toEqual({ question: 'Shall I?', answer: 'by all means' });
    });

    it('reports to the model that the user declined', async () => {
      const client = await connect(era, { capabilities: { elicitation: { form: {} } } });
      client.setRequestHandler('elicitation/create', () => ({ action: 'decline' }));
      const result = await callOf(client, 'ask');
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain('declined');
    });

    it('reports where a run waits when the client cannot be asked, and other clients can answer there', async () => {
      const client = await connect(era);
      const call = callOf(client, 'ask', { question: 'Who?' });
      const said = era === '2025-11-25' ? textOf(await call) : await call.catch(({ message }: Error) => message);
      const { thread_id } = await lastRun();
      expect(said).toContain(thread_id);
      expect(said).toContain('Who?');
      const threads = gantry.client();
      expect(await threads.threads.get(thread_id)).toMatchObject({ status: 'interrupted' });
      const asked = await shownThread(thread_id);
      expect(asked.ttl).toMatchObject({ strategy: 'delete', ttl_minutes: 24 * 60 });
      const resumed = await threads.runs.wait(thread_id, 'ask', { command: { resume: 'me' } });
      expect(resumed).toMatchObject({ answer: 'me' });
      // From now on it is a thread like any other, whose time to live begins with its last use and can be changed.
      const { ttl } = await shownThread(thread_id);
      expect(Date.parse(ttl!.expires_at)).toBeGreaterThan(Date.parse(asked.ttl!.expires_at));
      await threads.threads.update(thread_id, { ttl: 525_600 });
      expect((await shownThread(thread_id)).ttl).toMatchObject({ ttl_minutes: 525_600 });
      const { rows } = await gantry.sql.query('SELECT delete_after FROM threads WHERE thread_id = $1', [thread_id]);
      expect(rows).toEqual([{ delete_after: null }]);
    });

    it('pages through many tools with an opaque cursor, without duplicate names', async () => {
      const created = await Promise.all(
        Array.from({ length: 120 }, () => gantry.client().assistants.create({ graphId: 'three', name: ' Name ✓sake' })),
      );
      const client = await connect(era);
      const names: string[] = [];
      let cursor: string | undefined;
      let pages = 0;
      do {
        const page = await client.listTools(cursor === undefined ? {} : { cursor });
        names.push(...page.tools.map(({ name }) => name));
        cursor = page.nextCursor;
        pages += 1;
      } while (cursor !== undefined && pages < 10);
      expect(new Set(names).size).toBe(names.length);
      expect(names.filter((name) => name === 'Name_sake')).toHaveLength(1);
      expect(names.filter((name) => /^Name_sake_[0-9a-f]{8}$/.test(name))).toHaveLength(119);
      const [suffixed] = names.filter((name) => name.startsWith('Name_sake_'));
      expect((await callOf(client, suffixed)).structuredContent).toMatchObject({
        done: ['node_1', 'node_2', 'node_3'],
      });
      await expect(client.listTools({ cursor: 'no cursor' })).rejects.toMatchObject({ code: -32_602 });
      await Promise.all(created.map(({ assistant_id }) => gantry.client().assistants.delete(assistant_id)));
    });
  });

  describe('when the connection of a call is lost', () => {
    const start = async (headers: Record<string, string>, params: object): Promise<() => void> => {
      const losing = new AbortController();
      fetch(`${gantry.url}/mcp`, {
        method: 'POST',
        headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
        signal: losing.signal,
      }).catch(() => undefined);
      return () => losing.abort();
    };
    const running = (): Promise<RunRow> =>
      waitFor('the run', async () => {
        const run = await lastRun();
        return run?.status === 'running' && run;
      });
    const statusOf = async (runId: string): Promise<string> =>
      (await gantry.sql.query<RunRow>('SELECT * FROM runs WHERE run_id = $1', [runId])).rows[0].status;

    it('continues the run in 2025-11-25, where a lost connection is no cancellation', async () => {
      const lose = await start({}, { name: 'sleep', arguments: { sleep_ms: 10_000 } });
      const { run_id } = await running();
      lose();
      await waitFor('its end', async () => (await statusOf(run_id)) === 'success');
    });

    it('ends the run in 2026-07-28, where a client cancels this way', async () => {
      const lose = await start(
        { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'sleep' },
        {
          name: 'sleep',
          arguments: { sleep_ms: 60_000 },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      );
      const { run_id } = await running();
      lose();
      await waitFor('its end', async () => (await statusOf(run_id)) === 'interrupted');
    });
  });

  describe('when calls are tasks', () => {
    const tasks = (): ModernCaller => new ModernCaller(gantry.url);

    it('creates a task for a run, whose id it shares, with its progress and its result', async () => {
      const created = await tasks().call('ten', { step_ms: 600 });
      expect(created).toMatchObject({ resultType: 'task', status: 'working', pollIntervalMs: expect.any(Number) });
      expect(created).not.toHaveProperty('content');
      const { run_id } = await lastRun();
      expect(created.taskId).toBe(run_id);
      const working = await waitFor('progress', async () => {
        const task = await tasks().request('tasks/get', { taskId: run_id });
        return task.statusMessage !== undefined && task;
      });
      expect(working.statusMessage).toMatch(/^node_/);
      const done = await tasks().task(run_id, 'completed');
      expect(done.result).toMatchObject({ structuredContent: { done: { length: 10 } } });
      // Its events are dropped long before it is.
      await gantry.sql.query('DELETE FROM run_events WHERE run_id = $1', [run_id]);
      const { structuredContent } = done.result as CallToolResult;
      expect((await tasks().task(run_id, 'completed')).result).toMatchObject({ structuredContent });
    });

    it('answers at once when the result is quick', async () => {
      // On a busy machine a run may take longer than a call waits for it.
      const answer = await waitFor('a quick result', async () => {
        const answer = await tasks().call('three');
        return answer.resultType === 'complete' && answer;
      });
      expect(answer).toMatchObject({ structuredContent: {} });
    });

    it('continues with the answer of any client, and is cancelled when a person declines', async () => {
      const asked = await tasks().call('ask', { question: 'Who?' });
      const waiting = await tasks().task(asked.taskId, 'input_required');
      const [key] = Object.keys(waiting.inputRequests as object);
      const { run_id, thread_id } = await lastRun();
      expect(run_id).toBe(asked.taskId);
      // A task that waits is kept by those who ask for it.
      const age = `UPDATE threads SET updated_at = now() - interval '6 days' WHERE thread_id = $1 RETURNING updated_at`;
      const { rows } = await gantry.sql.query<{ updated_at: Date }>(age, [thread_id]);
      await tasks().task(asked.taskId, 'input_required');
      const { updated_at, ttl } = await shownThread(thread_id);
      expect(ttl).toMatchObject({ strategy: 'delete', ttl_minutes: 7 * 24 * 60 });
      expect(Date.parse(updated_at)).toBeGreaterThan(rows[0].updated_at.getTime());
      await gantry.client().runs.wait(thread_id, 'ask', { command: { resume: 'me' } });
      expect(await tasks().task(asked.taskId, 'completed')).toMatchObject({
        result: { structuredContent: { answer: 'me' } },
      });
      expect(key).toBeDefined();
      const declined = await tasks().call('ask', { question: 'Who?' });
      const { inputRequests } = await tasks().task(declined.taskId, 'input_required');
      const inputResponses = Object.fromEntries(
        Object.keys(inputRequests as object).map((each) => [each, { action: 'decline' }]),
      );
      await tasks().request('tasks/update', { taskId: declined.taskId, inputResponses });
      expect(await tasks().task(declined.taskId, 'cancelled')).toMatchObject({
        statusMessage: expect.stringContaining('declined'),
      });
    });

    it('cancels the run, and a waiting task', async () => {
      const running = await tasks().call('sleep', { sleep_ms: 60_000 });
      await tasks().request('tasks/cancel', { taskId: running.taskId });
      await tasks().task(running.taskId, 'cancelled');
      expect((await lastRun()).status).toBe('interrupted');
      const waiting = await tasks().call('ask', { question: 'Who?' });
      await tasks().request('tasks/cancel', { taskId: waiting.taskId });
      await tasks().task(waiting.taskId, 'cancelled');
    });

    it('cancels a task at whichever moment its graph asks', async () => {
      const moments = Array.from({ length: 16 }, (_, index) => index * 15);
      await Promise.all(
        moments.map(async (ms) => {
          const { taskId } = await tasks().call('ask', { question: 'Who?' });
          await new Promise((resolve) => setTimeout(resolve, ms));
          await tasks().request('tasks/cancel', { taskId });
          await tasks().task(taskId, 'cancelled');
        }),
      );
    });

    it('creates none for a client that does not declare them', async () => {
      const plain = new ModernCaller(gantry.url, {});
      expect(await plain.call('sleep', { sleep_ms: 700 })).toMatchObject({ resultType: 'complete', content: [{}] });
      await expect(plain.request('tasks/get', { taskId: (await lastRun()).run_id })).rejects.toThrow('-32021');
    });
  });

  describe('on the wire', () => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

    it.each([
      ['JSON that is broken', '{"jsonrpc"', 400, -32_700],
      ['no body at all', '', 400, -32_700],
      ['JSON that is not a message', '{"hello":"there"}', 400, -32_600],
      ['params that are not an object', { ...list, params: 'none' }, 400, -32_600],
    ])('refuses %s', async (_, body, status, code) => {
      const answer = await postMcp(gantry.url, body);
      expect(answer.status).toBe(status);
      expect(answer.messages).toMatchObject([{ jsonrpc: '2.0', error: { code } }]);
    });

    it('answers -32601 for an unknown method', async () => {
      const { messages } = await postMcp(gantry.url, { ...list, method: 'resources/list' });
      expect(messages).toMatchObject([{ id: 1, error: { code: -32_601 } }]);
    });

    it('answers each request of a batch, as 2025-03-26 requires', async () => {
      const { messages } = await postMcp(gantry.url, [list, { jsonrpc: '2.0', id: 'two', method: 'ping' }], {
        'mcp-protocol-version': '2025-03-26',
      });
      expect(messages.map(({ id }) => id).sort()).toEqual([1, 'two']);
      expect(messages.every(({ result }) => result)).toBe(true);
    });

    it('refuses a batch in 2026-07-28, which has none', async () => {
      const answer = await postMcp(gantry.url, [list], { 'mcp-protocol-version': '2026-07-28' });
      expect(answer.status).toBe(400);
    });

    it('accepts notifications without an answer', async () => {
      const answer = await postMcp(gantry.url, { jsonrpc: '2.0', method: 'notifications/initialized' });
      expect(answer).toMatchObject({ status: 202, messages: [] });
    });

    it('refuses an unknown revision, and names the supported ones', async () => {
      expect(await postMcp(gantry.url, list, { 'mcp-protocol-version': '1999-01-01' })).toMatchObject({
        status: 400,
        messages: [{ error: { message: expect.stringContaining('2025-11-25') } }],
      });
    });

    it.each(['application/json', '*/*'])('answers in JSON to Accept %s, in both generations', async (accept) => {
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'three', arguments: {} } };
      const older = await postMcp(gantry.url, call, { accept });
      const newer = await new ModernCaller(gantry.url, {}, { accept }).call('three');
      expect(older.headers.get('content-type')).toMatch(/^application\/json/);
      for (const result of [older.messages[0].result, newer]) {
        expect(result).toMatchObject({ structuredContent: { done: ['node_1', 'node_2', 'node_3'] } });
      }
    });

    it.each([
      ['a body of another type', { 'content-type': 'text/plain' }, 415],
      ['a page of another site', { origin: 'https://evil.example' }, 403],
      ['a page without an origin', { origin: 'null' }, 403],
      ['a session that was not issued here', { 'mcp-session-id': 'eyJpIjoieCJ9.forged' }, 404],
      ['an invalid session id', { 'mcp-session-id': 'x' }, 404],
    ])('refuses %s', async (_, headers, status) => {
      expect((await postMcp(gantry.url, list, headers)).status).toBe(status);
    });

    it('accepts a page of this machine', async () => {
      expect((await postMcp(gantry.url, list, { origin: 'http://localhost:6274' })).status).toBe(200);
    });

    it.each(['GET', 'DELETE'])('has no stream and no session to end: %s is 405', async (method) => {
      const response = await fetch(`${gantry.url}/mcp`, { method, headers: { accept: 'text/event-stream' } });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
    });

    it('refuses an answer that no call waits for', async () => {
      const initialize = {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
      };
      const { headers } = await postMcp(gantry.url, initialize);
      const session = { 'mcp-session-id': headers.get('mcp-session-id')! };
      expect(session['mcp-session-id']).toMatch(/^[\x21-\x7e]+$/);
      const answer = { jsonrpc: '2.0', id: 'nobody-asked', result: { action: 'accept', content: {} } };
      expect((await postMcp(gantry.url, answer, session)).status).toBe(400);
      expect((await postMcp(gantry.url, answer)).status).toBe(400);
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
      expect((await postMcp(gantry.url, cancelled, session)).status).toBe(202);
    });

    it('is announced in /info', async () => {
      expect(await (await fetch(`${gantry.url}/info`)).json()).toMatchObject({ flags: { mcp: true } });
    });
  });

  describe('between two replicas of the api', () => {
    let other: string;

    beforeAll(async () => {
      other = await gantry.startReplica();
    });

    const rpc = async (url: string, headers: Record<string, string>, message: object): Promise<Response> =>
      fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      });

    async function openSession(capabilities: object = { elicitation: {} }): Promise<Record<string, string>> {
      const clientInfo = { name: 'c', version: '1' };
      const params = { protocolVersion: '2025-11-25', capabilities, clientInfo };
      const initialized = await rpc(gantry.url, {}, { id: 0, method: 'initialize', params });
      await initialized.text();
      return {
        'mcp-session-id': initialized.headers.get('mcp-session-id')!,
        'mcp-protocol-version': '2025-11-25',
      };
    }

    const takeUp = (url: string, session: Record<string, string>, lastEventId: string): Promise<Response> =>
      fetch(`${url}/mcp`, { headers: { accept: 'text/event-stream', ...session, 'last-event-id': lastEventId } });

    it('announces when to reconnect for a stream that was lost', async () => {
      const params = { name: 'three', arguments: {} };
      const call = await rpc(gantry.url, await openSession(), { id: 'short', method: 'tools/call', params });
      expect(await call.text()).toMatch(/^id: \S+\nretry: 1000\n/);
    });

    it('resumes the stream of a call where it was lost: nothing is missing or repeated', async () => {
      const session = await openSession();
      const params = { name: 'ten', arguments: { step_ms: 150 }, _meta: { progressToken: 'token' } };
      const call = await rpc(gantry.url, session, { id: 'the-call', method: 'tools/call', params });
      const seen: Message[] = [];
      let lastEventId = '';
      for await (const message of messagesOf(call)) {
        seen.push(message);
        lastEventId = message.eventId!;
        if (seen.length === 4) break;
      }
      const resumed = await takeUp(other, session, lastEventId);
      expect([resumed.status, resumed.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      for await (const message of messagesOf(resumed)) seen.push(message);
      const { id, result } = seen.pop()!;
      expect([id, result]).toMatchObject(['the-call', { structuredContent: { done: { length: 10 } } }]);
      const emitted = seen.map(({ params: progress }) => progress as { progress: number; message: string });
      expect(emitted.map(({ message }) => message)).toEqual(
        Array.from({ length: 10 }, (_, index) => `node_${index + 1}`),
      );
      expect(emitted.map(({ progress }) => progress)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      // Once more from the same place, when everything is over.
      const again: Message[] = [];
      for await (const message of messagesOf(await takeUp(gantry.url, session, lastEventId))) again.push(message);
      expect(again).toHaveLength(7);
      expect(again.at(-1)).toMatchObject({ id, result });
    });

    it('repeats the open question when the stream was lost, and resumes after an answer', async () => {
      const session = await openSession();
      const params = { name: 'ask', arguments: { question: 'Shall I?' } };
      const call = await rpc(gantry.url, session, { id: 1, method: 'tools/call', params });
      const { value: question } = await messagesOf(call).next();
      await call.body?.cancel().catch(() => undefined);
      const resumed = messagesOf(await takeUp(other, session, question!.eventId!));
      const { value: repeated } = await resumed.next();
      expect(repeated).toMatchObject({ method: 'elicitation/create', params: { message: 'Shall I?' } });
      const result = { action: 'accept', content: { answer: 'by all means' } };
      expect((await rpc(gantry.url, session, { id: repeated!.id, result })).status).toBe(202);
      const { value: answered } = await resumed.next();
      expect(answered).toMatchObject({ id: 1, result: { structuredContent: { answer: 'by all means' } } });
      // From an event before the question, after it was answered.
      const late = messagesOf(await takeUp(other, session, question!.eventId!));
      expect((await late.next()).value).toMatchObject({
        id: 1,
        result: { structuredContent: { answer: 'by all means' } },
      });
    });

    it.each([
      ['that was made up', () => 'eyJzIjoieCJ9.forged'],
      [
        'of another session',
        async () => {
          const params = { name: 'sleep', arguments: {} };
          const call = await rpc(gantry.url, await openSession(), { id: 1, method: 'tools/call', params });
          const { value } = await messagesOf(call).next();
          return value!.eventId!;
        },
      ],
    ])('does not resume after an event %s', async (_, lastEventId) => {
      const session = await openSession();
      expect((await takeUp(gantry.url, session, await lastEventId())).status).toBe(400);
    });

    it('ignores the parts of a message that was sent before its session was opened, and what it can’t read', async () => {
      const session = await openSession();
      const call = await rpc(other, session, { id: 1, method: 'tools/call', params: { name: 'ask', arguments: {} } });
      const reader = messagesOf(call);
      const { value: question } = await reader.next();
      const [claim] = session['mcp-session-id'].split('.');
      const { i: s } = JSON.parse(Buffer.from(claim, 'base64url').toString()) as { i: string };
      const m = Buffer.from('the rest of a long text').toString('base64');
      const late = [1, 2].map((i) => JSON.stringify({ d: 'late', s, i, n: 3, m }));
      const unreadable = [JSON.stringify({ d: 'wrong', s, i: 0, n: 1, m }), '{"d":1}', 'no JSON'];
      const statement = `SELECT pg_notify('gantry_mcp_messages', part) FROM unnest($1::text[]) AS part`;
      await gantry.sql.query(statement, [[...late, ...unreadable]]);
      // Each of them would end the process that reads it.
      const result = { action: 'accept', content: { answer: 'still there' } };
      expect((await rpc(gantry.url, session, { id: question!.id, result })).status).toBe(202);
      expect((await reader.next()).value).toMatchObject({
        id: 1,
        result: { structuredContent: { answer: 'still there' } },
      });
    });

    it('delivers a user’s answer, and a cancellation, to the replica that waits', async () => {
      const session = await openSession();
      const call = await rpc(other, session, { id: 1, method: 'tools/call', params: { name: 'ask', arguments: {} } });
      const reader = messagesOf(call);
      const { value: question } = await reader.next();
      expect(question).toMatchObject({ method: 'elicitation/create' });
      // Larger than one notification of Postgres can be.
      const answer = 'ja, '.repeat(10_000);
      const result = { action: 'accept', content: { answer } };
      expect((await rpc(gantry.url, session, { id: question!.id, result })).status).toBe(202);
      const { value: answered } = await reader.next();
      expect(answered).toMatchObject({ id: 1, result: { structuredContent: { answer } } });

      const long = rpc(other, session, {
        id: 2,
        method: 'tools/call',
        params: { name: 'sleep', arguments: { sleep_ms: 60_000 } },
      });
      const { run_id } = await waitFor('the run', async () => {
        const run = await lastRun();
        return run?.status === 'running' && run;
      });
      const cancelled = { method: 'notifications/cancelled', params: { requestId: 2 } };
      expect((await rpc(gantry.url, session, cancelled)).status).toBe(202);
      await waitFor('its end', async () => {
        const { rows } = await gantry.sql.query<RunRow>('SELECT * FROM runs WHERE run_id = $1', [run_id]);
        return rows[0].status === 'interrupted';
      });
      // The call that was cancelled gets neither a result nor an error: its stream ends.
      const rest: Message[] = [];
      for await (const message of messagesOf(await long)) rest.push(message);
      expect(rest.filter(({ id }) => id === 2)).toEqual([]);
    });
  });
});

interface Message {
  id?: unknown;
  method?: string;
  params?: object;
  result?: object;
  /** Id of the event that carried the message. */
  eventId?: string;
}

/** The messages of an answer as they come. */
async function* messagesOf(response: Response): AsyncGenerator<Message> {
  let text = '';
  let eventId: string | undefined;
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(bytes).toString();
    const lines = text.split('\n');
    text = lines.pop()!;
    for (const line of lines) {
      if (line.startsWith('id: ')) eventId = line.slice(4);
      // The first event of a stream has an id alone.
      if (line.startsWith('data: {')) yield { ...(JSON.parse(line.slice(6)) as Message), ...(eventId && { eventId }) };
    }
  }
}
