import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client as LangSmithClient } from 'langsmith';
import { startTestApi, TestApi } from '../support/api';
import { runPython } from '../support/python';

type Json = Record<string, unknown>;

const HOUR_MS = 3_600_000;
const PROJECT = 'conversations';
/** Start of the first trace; the others follow a minute apart. */
const START = Date.now() - HOUR_MS;

interface Turn {
  id: string;
  llm: string;
  thread: string;
  error?: string;
}

/** The second version of the query API, by the real JavaScript client. */
describe('traces and threads, by the second version of the query API', () => {
  let api: TestApi;
  let client: LangSmithClient;
  let projectId: string;
  /** Two turns of one thread, one of another that failed, and a trace without a thread. */
  const turns: Turn[] = ['weather', 'weather', 'sports', ''].map((thread, index) => ({
    id: randomUUID(),
    llm: randomUUID(),
    thread,
    ...(index === 2 && { error: 'no such team' }),
  }));
  const [first, second, failed, loose] = turns as [Turn, Turn, Turn, Turn];

  const send = (method: 'GET' | 'POST', path: string, payload?: Json) =>
    api.app.inject({ method, url: path, ...(payload && { payload }) });
  const at = (index: number, seconds = 0): string => new Date(START + index * 60_000 + seconds * 1000).toISOString();

  beforeAll(async () => {
    api = await startTestApi();
    client = new LangSmithClient({ apiUrl: `${api.url}/api/v1`, apiKey: 'x' });
    const post = turns.flatMap(({ id, llm, thread, error }, index) => [
      {
        id,
        trace_id: id,
        name: `turn ${index}`,
        run_type: 'chain',
        session_name: PROJECT,
        start_time: at(index),
        end_time: at(index, 4 + index),
        dotted_order: dottedOrder(at(index), id),
        inputs: { question: `question ${index}` },
        outputs: { answer: `answer ${index}` },
        extra: { metadata: thread === '' ? {} : { thread_id: thread } },
        tags: index === 0 ? ['first'] : [],
        ...(error && { error }),
      },
      {
        id: llm,
        trace_id: id,
        parent_run_id: id,
        name: 'model',
        run_type: 'llm',
        session_name: PROJECT,
        start_time: at(index, 1),
        end_time: at(index, 3),
        dotted_order: `${dottedOrder(at(index), id)}.${dottedOrder(at(index, 1), llm)}`,
        events: [{ name: 'new_token', time: at(index, 2) }],
        outputs: {
          usage_metadata: {
            input_tokens: 10,
            output_tokens: 5 + index,
            total_tokens: 15 + index,
            input_cost: 0.5,
            output_cost: 0.25,
            total_cost: 0.75,
            input_token_details: { cache_read: 4 },
            output_token_details: { reasoning: 1 },
          },
        },
        extra: { metadata: thread === '' ? {} : { thread_id: thread } },
      },
    ]);
    const answer = await send('POST', '/api/v1/runs/batch', { post });
    expect(answer.statusCode).toBe(202);
    projectId = (await client.readProject({ projectName: PROJECT })).id;
    await send('POST', '/api/v1/feedback', { run_id: first.id, key: 'helpful', score: 1 });
    await send('POST', '/api/v1/feedback', { run_id: second.id, key: 'helpful', score: 0 });
  });
  afterAll(() => api.close());

  it('lists traces with their roots and the totals of all their runs, in pages', async () => {
    const traces: unknown[] = [];
    for await (const trace of client.traces.query({
      project_id: projectId,
      selects: ['ID', 'NAME', 'TOTAL_TOKENS', 'TOTAL_COST', 'FIRST_TOKEN_TIME'],
      page_size: 3,
    })) {
      traces.push(trace);
    }
    expect(traces).toEqual(
      [loose, failed, second, first].map(({ id }, index) => ({
        root_run: { id, name: `turn ${3 - index}` },
        trace_aggregates: {
          total_tokens: 18 - index,
          total_cost: 0.75,
          first_token_time: expect.stringContaining(at(3 - index, 2).slice(0, 19)) as string,
        },
        query_metadata: null,
      })),
    );
  });

  it.each([
    ['a filter on the root', { trace_filter: 'has(tags, "first")' }, () => [first]],
    ['a filter on any run', { tree_filter: 'gte(total_tokens, 17)' }, () => [loose, failed]],
    ['both', { trace_filter: 'eq(status, "error")', tree_filter: 'eq(run_type, "llm")' }, () => [failed]],
    ['ids of traces', {}, () => [second]],
    ['a window whose end is exclusive', { max_start_time: at(1) }, () => [first]],
  ])('narrows traces by %s', async (title, condition, expected) => {
    const ids = title === 'ids of traces' ? { trace_ids: [second.id] } : {};
    const answer = await send('POST', '/api/v2/traces/query', { project_id: projectId, ...condition, ...ids });
    expect(answer.json<{ items: unknown[] }>().items).toEqual(
      expected().map(({ id }) => ({ root_run: { id }, query_metadata: null })),
    );
  });

  it('sums up what is below a run, whatever the query selects', async () => {
    const answer = await send('POST', '/api/v2/runs/query', {
      project_ids: [projectId],
      trace_id: first.id,
      sort_order: 'ASC',
      selects: ['NAME', 'TOTAL_TOKENS', 'PROMPT_TOKEN_DETAILS'],
      include_subtree_usage: true,
      is_root: true,
    });
    expect(answer.json<{ items: unknown[] }>().items).toEqual([
      { name: 'turn 0', total_tokens: 15, prompt_token_details: { raw: { cache_read: 4 } } },
    ]);
  });

  it('sums it up in the first version, whose clients cannot ask for it; filters compare a run’s own numbers', async () => {
    const query = async (condition: object): Promise<unknown> =>
      (await send('POST', '/api/v1/runs/query', { trace: first.id, ...condition })).json<{ runs: unknown }>().runs;
    const usage = { total_tokens: 15, prompt_tokens: 10, completion_tokens: 5, total_cost: '0.75' };
    const details = { prompt_token_details: { cache_read: 4 } };
    expect(await query({})).toMatchObject([
      { name: 'model', ...usage, ...details },
      { name: 'turn 0', ...usage, ...details },
    ]);
    expect(await client.readRun(first.id)).toMatchObject({ name: 'turn 0', ...usage, ...details });
    expect(await query({ filter: 'gt(total_tokens, 0)' })).toMatchObject([{ name: 'model' }]);
  });

  it('counts it in statistics of root runs, and a run under several of the selected ones once', async () => {
    const stats = async (condition: object): Promise<Json> =>
      (await send('POST', '/api/v1/runs/stats', { session: [projectId], ...condition })).json();
    const helpful = (n: number) => ({ helpful: expect.objectContaining({ n }) as unknown });
    expect(await stats({ trace: first.id, is_root: true })).toMatchObject({
      ...{ run_count: 1, total_tokens: 15, prompt_tokens: 10, completion_tokens: 5, total_cost: '0.75' },
      ...{ median_tokens: 15, cost_p50: 0.75, first_token_p50: 2, streaming_rate: 1, latency_p50: 4 },
      feedback_stats: helpful(1),
    });
    expect(await stats({ trace: first.id })).toMatchObject({ run_count: 2, total_tokens: 15, total_cost: '0.75' });
    expect(await stats({ filter: 'eq(name, "none")' })).toMatchObject({
      ...{ run_count: 0, total_tokens: 0, total_cost: null, feedback_stats: {} },
    });
    const threads = await stats({ is_root: true, group_by: { attribute: 'metadata', path: 'thread_id' } });
    expect(Object.keys(threads)).toEqual(['weather', 'sports']);
    expect(threads).toMatchObject({
      weather: { run_count: 2, total_tokens: 31, total_cost: '1.50', feedback_stats: helpful(2) },
      sports: { run_count: 1, total_tokens: 17, feedback_stats: {} },
    });
    expect(await stats({ group_by: { attribute: 'tag' } })).toMatchObject({
      first: { run_count: 1, total_tokens: 15 },
    });
    expect(await stats({ group_by: { attribute: 'name' } })).toMatchObject({
      model: { run_count: 4, total_tokens: 66, feedback_stats: {} },
      'turn 0': { run_count: 1, total_tokens: 15, feedback_stats: helpful(1) },
    });
  });

  it('summarises the feedback on a project’s runs', async () => {
    const read = async (since: string): Promise<Json> =>
      (await send('GET', `/api/v1/sessions/${projectId}?include_stats=true${since}`)).json();
    expect(await read('')).toMatchObject({
      feedback_stats: { helpful: { n: 2, avg: 0.5, min: 0, max: 1 } },
      session_feedback_stats: null,
    });
    expect(await read(`&stats_start_time=${at(1)}`)).toMatchObject({ feedback_stats: { helpful: { n: 1, avg: 0 } } });
  });

  it('lists threads with the totals of their turns', async () => {
    const threads: Json[] = [];
    for await (const thread of client.threads.query({ project_id: projectId, page_size: 1 })) {
      threads.push(thread as Json);
    }
    expect(threads).toEqual([
      expect.objectContaining({ thread_id: 'sports', count: 1, num_errored_turns: 1, last_error: 'no such team' }),
      expect.objectContaining({
        thread_id: 'weather',
        count: 2,
        num_errored_turns: 0,
        last_error: null,
        first_trace_id: first.id,
        last_trace_id: second.id,
        first_inputs: '{"question":"question 0"}',
        last_outputs: '{"answer":"answer 1"}',
        min_start_time: expect.stringContaining(at(0).slice(0, 19)) as string,
        max_start_time: expect.stringContaining(at(1).slice(0, 19)) as string,
        total_tokens: 31,
        total_cost: 1.5,
        total_token_details: { cache_read: 8, reasoning: 2 },
        latency_p50: 4.5,
        feedback_stats: { helpful: expect.objectContaining({ n: 2, avg: 0.5, min: 0, max: 1 }) as unknown },
      }),
    ]);
  });

  it.each([
    ['filter', 'has(tags, "first")', ['weather']],
    ['trace_filter', 'eq(status, "error")', ['sports']],
    ['tree_filter', 'and(eq(run_type, "llm"), eq(total_tokens, 16))', ['weather']],
    ['tree_filter', 'eq(name, "nothing")', []],
  ])('finds threads that contain a trace by %s, with all of their turns', async (field, filter, expected) => {
    const answer = await send('POST', '/api/v2/threads/query', { project_id: projectId, [field]: filter });
    const { items } = answer.json<{ items: { thread_id: string; count: number }[] }>();
    expect(items.map(({ thread_id: id, count }) => [id, count])).toEqual(
      expected.map((id) => [id, id === 'weather' ? 2 : 1]),
    );
  });

  it('returns the turns of a thread in order, in pages, with their usage', async () => {
    const found: unknown[] = [];
    for await (const turn of client.threads.listTraces('weather', {
      project_id: projectId,
      selects: ['NAME', 'TURN_NUMBER', 'TOTAL_TOKENS', 'LATENCY', 'INPUTS', 'COMPLETION_TOKEN_DETAILS'],
      page_size: 1,
    })) {
      found.push(turn);
    }
    expect(found).toEqual(
      [first, second].map(({ id }, index) => ({
        trace_id: id,
        name: `turn ${index}`,
        turn_number: index + 1,
        total_tokens: 15 + index,
        latency: 4 + index,
        inputs: { question: `question ${index}` },
        completion_token_details: { raw: { reasoning: 1 } },
      })),
    );
    const filtered = await send(
      'GET',
      `/api/v2/threads/weather/traces?project_id=${projectId}&selects=TURN_NUMBER&trace_filter=${encodeURIComponent('eq(name, "turn 1")')}`,
    );
    expect(filtered.json<{ items: unknown[] }>().items).toEqual([{ trace_id: second.id, turn_number: 2 }]);
  });

  it('sums up one thread, and all of them', async () => {
    const one = await client.threads.stats('weather', {
      session_id: projectId,
      selects: ['TURNS', 'TOTAL_TOKENS', 'TOTAL_COST', 'LATENCY_P50', 'PROMPT_TOKEN_DETAILS', 'FEEDBACK_STATS'],
    });
    expect(one).toEqual({
      turns: 2,
      total_tokens: 31,
      total_cost: 1.5,
      latency_p50_seconds: 4.5,
      prompt_token_details: { raw: { cache_read: 8 } },
      feedback_stats: { helpful: expect.objectContaining({ n: 2 }) as unknown },
    });
    const all = await send('POST', '/api/v2/threads/stats', {
      project_id: projectId,
      select: [
        ...['THREAD_COUNT', 'TRACE_COUNT', 'ERROR_RATE', 'STREAMING_RATE', 'MEDIAN_TOKENS', 'FIRST_TOKEN_P50'],
        ...['COMPLETION_TOKEN_DETAILS', 'THREAD_FEEDBACK_STATS'],
      ],
    });
    expect(all.json()).toEqual({
      thread_count: 2,
      trace_count: 3,
      error_rate: expect.closeTo(1 / 3, 5) as number,
      streaming_rate: 1,
      median_tokens: 16,
      first_token_p50_seconds: 2,
      completion_token_details: { reasoning: 3 },
      thread_feedback_stats: { helpful: expect.objectContaining({ n: 2, avg: 0.5 }) as unknown },
    });
    const empty = await send(
      'GET',
      `/api/v2/threads/none/stats?session_id=${projectId}&selects=TURNS&selects=LATENCY_P50`,
    );
    expect(empty.json()).toEqual({ turns: 0, latency_p50_seconds: null });
  });

  it('sums up all threads over time, each in the bucket in which its newest trace began', async () => {
    const stats = (stride: Json) =>
      send('POST', '/api/v2/threads/stats', {
        ...{ project_id: projectId, min_start_time: at(0), max_start_time: at(3), stride },
        select: ['THREAD_COUNT', 'TRACE_COUNT', 'TOTAL_TOKENS', 'COMPLETION_TOKEN_DETAILS', 'THREAD_FEEDBACK_STATS'],
      });
    const minuteOf = (index: number): string => at(index).replace(/:\d\d\.\d{3}Z$/, ':00.000000Z');
    const weather = {
      ...{ thread_count: 1, trace_count: 2, total_tokens: 31, completion_token_details: { reasoning: 2 } },
      thread_feedback_stats: { helpful: expect.objectContaining({ n: 2, avg: 0.5 }) as unknown },
    };
    const sports = {
      ...{ thread_count: 1, trace_count: 1, total_tokens: 17, completion_token_details: { reasoning: 1 } },
      thread_feedback_stats: {},
    };
    expect((await stats({ unit: 'MINUTE', value: 1 })).json()).toEqual({
      buckets: [
        { bucket_start_time: minuteOf(1), ...weather },
        { bucket_start_time: minuteOf(2), ...sports },
      ],
    });
    const byCentury = (await stats({ unit: 'DAY', value: 36_500 })).json<{ buckets: Json[] }>();
    expect(byCentury.buckets).toMatchObject([
      { bucket_start_time: '1970-01-01T00:00:00.000000Z', thread_count: 2, trace_count: 3, total_tokens: 48 },
    ]);
  });

  it('groups runs by thread for clients of the first version', async () => {
    const groups: Json[] = [];
    for await (const group of client.listGroupRuns({ projectId, groupBy: 'conversation', limit: 1 })) {
      groups.push(group as unknown as Json);
    }
    expect(groups.map(({ group_key: key, count, filter }) => [key, count, filter])).toEqual([
      ['sports', 1, 'eq(thread_id, "sports")'],
      ['weather', 2, 'eq(thread_id, "weather")'],
    ]);
  });

  /** Builds the document that the patches of a stream describe, and counts the events. */
  async function stream(path: string, body: Json): Promise<{ events: number; document: Json }> {
    const response = await fetch(api.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(body),
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events = (await response.text()).split('\n\n').filter((event) => event.startsWith('data: '));
    const items: unknown[] = [];
    const document: Json = {};
    for (const { path: pointer, value } of events.flatMap(
      (event) => JSON.parse(event.slice('data: '.length)) as { path: string; value: unknown }[],
    )) {
      if (pointer === '') Object.assign(document, value, { items });
      else if (pointer === '/items/-') items.push(value);
      else document[pointer.slice(1)] = value;
    }
    return { events: events.length, document };
  }

  it.each([
    ['/api/v2/traces/query', () => ({ project_id: projectId })],
    ['/api/v2/threads/query', () => ({ project_id: projectId })],
    ['/api/v2/runs/query', () => ({ project_ids: [projectId], selects: ['NAME'] })],
  ])('streams %s as patches that build the same page', async (path, query) => {
    const body = { ...query(), page_size: 2, max_start_time: at(30) };
    const answer = (await send('POST', path, body)).json<Json>();
    const { document } = await stream(path, body);
    expect(document).toEqual({ items: answer.items, next_cursor: answer.next_cursor });
    expect([(document.items as unknown[]).length, typeof document.next_cursor]).toEqual([
      2,
      path.includes('threads') ? 'object' : 'string',
    ]);
  });

  it('streams to the client that follows the pages', async () => {
    const names: unknown[] = [];
    for await (const { root_run: run } of client.traces.streaming.queryItems({
      project_id: projectId,
      selects: ['NAME'],
      page_size: 3,
    })) {
      names.push(run?.name);
    }
    expect(names).toEqual(['turn 3', 'turn 2', 'turn 1', 'turn 0']);
  });

  it('serves the Python client, without warnings', async () => {
    const script = join(__dirname, '..', 'python', 'traces_v2_client.py');
    const output = await runPython([script, `${api.url}/api/v1`, projectId, first.id, 'weather']);
    expect(JSON.parse(output)).toEqual({
      traces: [3, 2, 1, 0].map((index) => [`turn ${index}`, 15 + index]),
      streams_the_same: true,
      threads: [
        ['sports', 1],
        ['weather', 2],
      ],
      turns: [1, 2],
      one: [2, 31],
      all: [2, 0.333],
      shared: ['turn 0', 'model'],
      project: ['PROJECT', 'SHORT_LIVED', 'changed'],
      found: [['made by python', 0]],
      tokens: [true],
      feedback: [[1, 'fine']],
      warnings: [],
    });
  });

  it('sends the first runs of a streamed page before it has read the others', async () => {
    const post = Array.from({ length: 120 }, (_, index) => ({
      ...{ id: randomUUID(), name: `many ${index}`, run_type: 'chain', session_name: 'many', start_time: at(5, index) },
    }));
    await send('POST', '/api/v1/runs/batch', { post });
    const { id } = await client.readProject({ projectName: 'many' });
    const { events, document } = await stream('/api/v2/runs/query', {
      project_ids: [id],
      selects: ['NAME'],
      sort_order: 'ASC',
      page_size: 110,
    });
    // The empty document, three parts of the page, and the cursor.
    expect(events).toBe(5);
    expect(document.items).toEqual(post.slice(0, 110).map(({ name }) => ({ name })));
    expect(document.next_cursor).toEqual(expect.any(String));
  });

  it.each([
    ['/api/v2/traces/query', {}, 422, 'project_id'],
    ['/api/v2/traces/query', { project_id: '$', selects: ['COLOUR'] }, 422, 'unknown field COLOUR'],
    ['/api/v2/traces/query', { project_id: '$', trace_filter: 'eq(' }, 422, 'trace_filter'],
    ['/api/v2/traces/query', { project_id: '$', cursor: 'x' }, 422, 'cursor'],
    ['/api/v2/traces/query', { project_id: '$', ai_search: 'angry users' }, 422, 'ai_search'],
    ['/api/v2/traces/query', { project_id: '$', min_feedback_modified_at: at(0) }, 422, 'min_feedback_modified_at'],
    ['/api/v2/threads/query', { project_id: '$', thread_filter: 'gt(count, 1)' }, 422, 'thread_filter'],
    ['/api/v2/threads/query', { project_id: '$', filter: 'eq(colour, 1)' }, 422, 'unknown field colour'],
    ['/api/v2/threads/stats', { project_id: '$', select: [] }, 422, 'select'],
    [
      '/api/v2/threads/stats',
      { project_id: '$', select: ['TURNS'], stride: { unit: 'YEAR', value: 1 } },
      422,
      'stride',
    ],
    [
      '/api/v2/threads/stats',
      {
        ...{ project_id: '$', select: ['TRACE_COUNT'], min_start_time: '2026-01-01' },
        stride: { unit: 'SECOND', value: 1 },
      },
      422,
      'at most 10000',
    ],
    ['/api/v2/threads/stats', { project_id: '$', select: ['COLOUR'] }, 422, 'unknown field COLOUR'],
  ])('answers %s with %j by %i naming the field', async (path, body, status, named) => {
    const given = JSON.parse(JSON.stringify(body).replace('"$"', JSON.stringify(projectId))) as Json;
    const answer = await send('POST', path, given);
    expect([answer.statusCode, answer.body]).toEqual([status, expect.stringContaining(named)]);
    // The same refusal for a stream, before it has begun.
    const streamed = await api.app.inject({
      method: 'POST',
      url: path,
      payload: given,
      headers: { accept: 'text/event-stream' },
    });
    expect(streamed.statusCode).toBe(status);
  });

  it('reports a version with which clients use all of this, at each of their addresses', async () => {
    for (const [path, agent] of [
      ['/api/v1/info', 'x'],
      ['/api/info', 'x'],
      ['/info', 'langsmith-js/0.12.0'],
    ]) {
      const { version } = (await api.app.inject({ url: path, headers: { 'user-agent': agent } })).json<{
        version: string;
      }>();
      expect([path, version]).toEqual([path, '0.18.0']);
    }
    const deployment = await api.app.inject({ url: '/info', headers: { 'user-agent': 'node' } });
    expect(deployment.json()).toMatchObject({ version: '0.16.7' });
  });
});

function dottedOrder(time: string, id: string): string {
  return `${time.replace(/[-:.]/g, '').replace('Z', '000Z')}${id}`;
}
