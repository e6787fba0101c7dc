import type { Client, Progress } from '@modelcontextprotocol/client';
import { Gantry, startGantry } from '../support/gantry';
import { connectMcp, type Era, ERAS, ModernCaller } from '../support/mcp';
import { waitFor } from '../support/wait-for';

const NODES = Array.from({ length: 10 }, (_, index) => `node_${index + 1}`);

interface Call {
  client: Client;
  emitted: Progress[];
  result: Promise<{ structuredContent?: unknown }>;
  run: string;
}

/** A tool call is a durable run: the death of a process only delays the result. */
describe('SIGKILL during an MCP call', () => {
  let gantry: Gantry;

  beforeAll(async () => {
    gantry = await startGantry({ sweepSeconds: 1, graphProcesses: 1 });
  });

  afterAll(() => gantry?.stop());

  /** A call of ten nodes, once four of them are reported. */
  async function begin(era: Era): Promise<Call> {
    const client = await connectMcp(gantry.url, { era });
    const emitted: Progress[] = [];
    const result = client.callTool(
      { name: 'ten', arguments: { step_ms: 1_000 } },
      { onprogress: (progress) => emitted.push(progress), timeout: 90_000 },
    );
    await waitFor('four nodes', () => emitted.length >= 4);
    const { rows } = await gantry.sql.query<{ run_id: string }>(
      'SELECT run_id FROM runs ORDER BY created_at DESC LIMIT 1',
    );
    return { client, emitted, result, run: rows[0].run_id };
  }

  async function expectWhole({ client, emitted, result, run }: Call, attempt: number): Promise<void> {
    expect((await result).structuredContent).toMatchObject({ done: NODES });
    const nodes = emitted.map(({ message }) => message);
    expect(attempt > 1 ? [...new Set(nodes)] : nodes).toEqual(NODES);
    const counts = emitted.map(({ progress }) => progress);
    expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
    const { rows } = await gantry.sql.query('SELECT attempt FROM runs WHERE run_id = $1', [run]);
    expect(rows).toEqual([{ attempt }]);
    const executions = await gantry.ledger.of(run);
    expect(new Set(executions.map(({ key }) => key)).size).toBe(NODES.length);
    await client.close();
  }

  it.each(ERAS)('of the worker is not noticed by the caller of %s, who gets the whole result', async (era) => {
    const call = await begin(era);
    await gantry.killWorker('SIGKILL');
    await gantry.startWorker();
    await expectWhole(call, 2);
  });

  it('of every process is not noticed by a client that created a task, and asks for it again', async () => {
    const caller = new ModernCaller(gantry.url);
    const { taskId } = await caller.call('ten', { step_ms: 300 });
    await waitFor('four nodes', async () => (await gantry.ledger.of(String(taskId))).length >= 4);
    await gantry.killWorker('SIGKILL');
    await gantry.killApi('SIGKILL');
    await gantry.startApi();
    await gantry.startWorker();
    const again = new ModernCaller(gantry.url);
    expect(await again.task(taskId, 'completed')).toMatchObject({ result: { structuredContent: { done: NODES } } });
    // A question and partial answers are stored as well.
    const asked = await again.call('ask', { question: 'Who?' });
    await gantry.killApi('SIGKILL');
    await gantry.startApi();
    const answering = new ModernCaller(gantry.url);
    const { inputRequests } = await answering.task(asked.taskId, 'input_required');
    const [key] = Object.keys(inputRequests as object);
    const inputResponses = { [key]: { action: 'accept', content: { answer: 'me' } } };
    await answering.request('tasks/update', { taskId: asked.taskId, inputResponses });
    expect(await answering.task(asked.taskId, 'completed')).toMatchObject({
      result: { structuredContent: { answer: 'me' } },
    });
  });

  /** The stream of a call can be taken up again where the revision has a way to ask for it. */
  it('of the api is not noticed by the caller of 2025-11-25, who gets the whole result', async () => {
    const call = await begin('2025-11-25');
    await gantry.killApi('SIGKILL');
    await gantry.startApi();
    await expectWhole(call, 1);
  });
});
