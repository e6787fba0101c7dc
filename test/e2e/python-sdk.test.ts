import { join } from 'node:path';
import { EXAMPLE_GRAPHS, Gantry, startGantry } from '../support/gantry';
import { runPython } from '../support/python';

const SCRIPT = join(__dirname, '..', 'python', 'langgraph_client.py');

interface Part {
  event: string;
  data: unknown;
  id: string | null;
}

interface Message {
  type: string;
  content: string;
}

interface Report {
  assistants: { graph_id: string; assistant_id: string }[];
  assistant: { graph_id: string; version: number };
  no_assistant: { type: string; status: number };
  no_graph: string;
  thread: { thread_id: string; status: string; metadata: object; values: unknown };
  updates: Part[];
  messages: Part[];
  tuples: Part[];
  events: Part[];
  several: Part[];
  stateless: Part[];
  waited: { messages: Message[] };
  state: { values: unknown; next: string[] };
  history: number;
  found: string[];
  asked: { __interrupt__: { value: unknown }[] };
  waiting: string;
  resumed: object;
  joined: Part[];
  background: string;
  cancelled: string;
  newer: {
    ttl: object;
    pruned: object;
    history: [number, number];
    runs: [string, string];
    reused: { status: number };
    not_allowed: { status: number };
  };
  protocol: { outputs: string[][]; texts: string[]; last: unknown; interrupted: boolean; questions: number };
  crons: {
    created: Record<string, unknown>;
    on_thread: boolean;
    updated: Record<string, unknown>;
    found: string[];
    count: number;
    wrong: { type: string; status: number };
    left: number;
  };
  failed: object | null;
  sync: string[];
}

const namesOf = (parts: Part[]): string[] => [...new Set(parts.map(({ event }) => event))];

/** The public Python client against the examples: one script makes all calls, the tests check its results. */
describe('Python SDK', () => {
  let gantry: Gantry;
  let report: Report;

  beforeAll(async () => {
    gantry = await startGantry({ graphProcesses: 1, graphs: EXAMPLE_GRAPHS });
    report = JSON.parse(await runPython([SCRIPT, gantry.url])) as Report;
  });

  afterAll(() => gantry?.stop());

  it('searches and gets assistants', () => {
    expect(report.assistants.map(({ graph_id }) => graph_id).sort()).toEqual([
      'agent',
      'approval',
      'memory',
      'pipeline',
    ]);
    expect(report.assistant).toMatchObject({ graph_id: 'agent', version: 1 });
    expect(report.no_assistant).toEqual({ type: 'NotFoundError', status: 404 });
    expect(report.no_graph).toMatch(/404 No assistant found for "no_such_graph"/);
  });

  it('creates and finds threads', () => {
    expect(report.thread).toMatchObject({ status: 'idle', metadata: { by: 'python' }, values: null });
    expect(report.found).toEqual([report.thread.thread_id]);
  });

  it('expires and prunes threads, creates a run once, and reports an invalid method', () => {
    const { ttl, pruned, history, runs, reused, not_allowed } = report.newer;
    expect(ttl).toMatchObject({ strategy: 'keep_latest', ttl_minutes: 60 });
    expect(pruned).toEqual({ pruned_count: 1 });
    expect(history[0]).toBeGreaterThan(20);
    expect(history[1]).toBe(1);
    expect(runs[0]).toBe(runs[1]);
    expect(reused.status).toBe(409);
    expect(not_allowed.status).toBe(405);
  });

  it('uses the event protocol', () => {
    const { outputs, texts, interrupted, questions } = report.protocol;
    // Events received over a WebSocket, and those of the finished run over both transports.
    expect(outputs).toEqual(Array(3).fill(['human', 'ai', 'tool', 'ai']));
    expect(texts.at(-1)).toMatch(/^Here/);
    expect([interrupted, questions]).toEqual([true, 1]);
  });

  it('streams each mode', () => {
    expect(namesOf(report.updates)).toEqual(['metadata', 'updates']);
    expect(namesOf(report.messages)).toEqual(
      expect.arrayContaining(['metadata', 'messages/metadata', 'messages/partial', 'messages/complete']),
    );
    expect(namesOf(report.tuples)).toEqual(['metadata', 'messages']);
    expect(namesOf(report.events)).toEqual(expect.arrayContaining(['metadata', 'events']));
    expect(namesOf(report.several).sort()).toEqual(['messages', 'metadata', 'updates', 'values']);
    expect(report.several.filter(({ event }) => event === 'messages').length).toBeGreaterThan(5);
  });

  it('streams stateless runs', () => {
    const values = report.stateless.filter(({ event }) => event === 'values');
    const { messages } = values.at(-1)!.data as { messages: Message[] };
    expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
  });

  it('waits, and reads the state afterwards', () => {
    expect(report.waited.messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
    expect(report.state).toMatchObject({ values: report.waited, next: [] });
    expect(report.history).toBeGreaterThanOrEqual(4);
  });

  it('answers an interrupt', () => {
    expect(report.asked.__interrupt__[0].value).toEqual({
      question: 'Approve this refund?',
      draft: 'Refund of $12',
    });
    expect(report.waiting).toBe('interrupted');
    expect(report.resumed).toMatchObject({ decision: 'approved', outcome: 'paid $12' });
  });

  it('joins a run in the background', () => {
    expect(report.background).toBe('success');
    expect(report.joined.filter(({ event }) => event === 'updates')).toHaveLength(10);
    expect(report.joined.map(({ id }) => id)).toEqual(report.joined.map((_, index) => String(index)));
  });

  it('cancels and waits for the end', () => {
    expect(report.cancelled).toBe('interrupted');
  });

  it('manages crons', () => {
    const { created, updated, ...rest } = report.crons;
    expect(created).toMatchObject({ timezone: 'America/New_York', end_time: '2099-01-01T00:00:00.000000+00:00' });
    expect(updated).toMatchObject({ enabled: false, end_time: null, next_run_date: null });
    expect(rest).toEqual({
      on_thread: true,
      found: [created.cron_id],
      count: 2,
      wrong: { type: 'UnprocessableEntityError', status: 422 },
      left: 1,
    });
  });

  it('raises the graph’s error as an exception', () => {
    expect(report.failed).not.toBeNull();
  });

  it('works in its synchronous form', () => {
    expect(report.sync[0]).toBe('metadata');
    expect(report.sync).toContain('values');
  });
});
