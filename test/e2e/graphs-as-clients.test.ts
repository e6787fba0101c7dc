import { join } from 'node:path';
import { type Gantry, startGantry } from '../support/gantry';
import { connectMcp, ERAS, postMcp } from '../support/mcp';
import { waitFor } from '../support/wait-for';

const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'delegate.json');
const NODES = Array.from({ length: 10 }, (_, index) => `node_${index + 1}`);
const WORDS = Array.from({ length: 60 }, (_, index) => `w${index}`).join(' ');

interface Called {
  run_id: string;
  status: string;
  graph: string;
}

/** The example `delegate`: a graph that calls an agent by A2A and a tool by MCP, here both of the Gantry that runs it. */
describe('a graph that is a client of A2A and MCP', () => {
  let gantry: Gantry;

  beforeAll(async () => {
    gantry = await startGantry({
      graphs: GRAPHS,
      graphProcesses: 1,
      env: { GANTRY_TRACING: 'on' },
    });
  });

  beforeEach(() => gantry.sql.query('DELETE FROM threads'));

  afterAll(() => gantry?.stop());

  async function delegate(stepMs: number): Promise<{ threadId: string; runId: string }> {
    const { threads, runs } = gantry.client();
    const { thread_id: threadId } = await threads.create();
    const input = { question: 'Tell', arguments: { step_ms: stepMs } };
    const context = { peer: gantry.url, agent: 'prose', tool: 'ten' };
    const { run_id: runId } = await runs.create(threadId, 'delegate', { input, context });
    return { threadId, runId };
  }

  /** Runs that the graph has caused, in the order of their creation. */
  async function called(): Promise<Called[]> {
    const { rows } = await gantry.sql.query<Called>(
      `SELECT run_id, status, graph_id AS graph FROM runs WHERE graph_id <> 'delegate' ORDER BY created_at`,
    );
    return rows;
  }

  const calledOf = (graph: string): Promise<Called> =>
    waitFor(`a call of ${graph}`, async () => (await called()).find((run) => run.graph === graph));

  /** Waits until the agent or tool has done some of its work. */
  async function midOf(graph: 'prose' | 'ten'): Promise<Called> {
    const run = await calledOf(graph);
    await waitFor('its first step', async () => (await gantry.ledger.of(run.run_id)).length > 0);
    return run;
  }

  it('finds the task and the call again when it is killed between their acceptance and its checkpoint', async () => {
    const { threadId, runId } = await delegate(300);
    const task = await midOf('prose');
    await gantry.killWorker('SIGKILL');
    await gantry.startWorker();
    const call = await midOf('ten');
    await gantry.killWorker('SIGKILL');
    await gantry.startWorker();
    expect(await gantry.client().runs.join(threadId, runId)).toMatchObject({ answer: WORDS, result: { done: NODES } });
    expect(await called()).toEqual([
      { ...task, status: 'success' },
      { ...call, status: 'success' },
    ]);
    const { rows } = await gantry.sql.query('SELECT task_id FROM a2a_tasks');
    expect(rows).toEqual([{ task_id: task.run_id }]);
    // A worker may be lost again before it begins its attempt.
    const { rows: attempts } = await gantry.sql.query('SELECT attempt >= 3 AS ok FROM runs WHERE run_id = $1', [runId]);
    expect(attempts).toEqual([{ ok: true }]);
  });

  it.each(['prose', 'ten'] as const)('cancels what it has called when its own run is cancelled: %s', async (graph) => {
    const { threadId, runId } = await delegate(2_000);
    await midOf(graph);
    await gantry.client().runs.cancel(threadId, runId, true);
    await waitFor('the end of the call', async () => (await calledOf(graph)).status === 'interrupted');
  });

  it('has the traces of what it called in its own', async () => {
    const { threadId, runId } = await delegate(0);
    await gantry.client().runs.join(threadId, runId);
    const ids = (await called()).map(({ run_id }) => run_id);
    expect(ids).toHaveLength(2);
    await waitFor('the traces', async () => {
      const { rows } = await gantry.sql.query<{ name: string; parent: string }>(
        `SELECT run.name, parent.name AS parent FROM trace_runs run
         JOIN trace_runs parent ON parent.run_id = run.parent_run_id AND parent.trace_id = run.trace_id
         WHERE run.trace_id = $1 AND run.run_id = ANY ($2) ORDER BY run.name`,
        [runId, ids],
      );
      return rows.length === 2 && rows.map(({ name, parent }) => [name, parent]);
    }).then((nested) =>
      expect(nested).toEqual([
        ['prose', 'ask_agent'],
        ['ten', 'call_tool'],
      ]),
    );
  });

  it('may call servers of this machine only', async () => {
    const input = { question: 'Tell' };
    const context = { peer: 'http://agents.example.com' };
    const outcome = gantry.client().runs.wait(null, 'delegate', { input, context });
    await expect(outcome).rejects.toThrow('peer must be on this machine');
  });

  describe.each(ERAS)('an Idempotency-Key of a call of MCP, in %s', (era) => {
    const call = async (key: string, step_ms: number) => {
      const client = await connectMcp(gantry.url, { era, headers: { 'idempotency-key': key } });
      const result = await client.callTool({ name: 'ten', arguments: { step_ms } });
      await client.close();
      return result;
    };

    it('makes one run of calls that are equal, and refuses others', async () => {
      const key = `key of ${era}`;
      const [first, second] = await Promise.all([call(key, 1), call(key, 1)]);
      expect(first.structuredContent).toMatchObject({ done: NODES });
      expect(second.structuredContent).toEqual(first.structuredContent);
      expect((await call(key, 1)).structuredContent).toEqual(first.structuredContent);
      expect(await called()).toHaveLength(1);
      expect(await call(key, 2)).toMatchObject({
        isError: true,
        content: [{ text: 'This Idempotency-Key was used with another body: use a new key' }],
      });
      await call(`${key}, again`, 1);
      expect(await called()).toHaveLength(2);
    });
  });

  it('an overlong Idempotency-Key of a call of MCP is refused with the limit', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ten', arguments: {} } };
    const { messages } = await postMcp(gantry.url, call, { 'idempotency-key': 'x'.repeat(256) });
    expect(messages.at(-1)?.result).toMatchObject({
      isError: true,
      content: [{ text: 'Idempotency-Key: must have 1 to 255 characters' }],
    });
  });
});
