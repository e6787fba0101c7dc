import type { Client } from '@langchain/langgraph-sdk';
import type { RunWorkflowInput } from '../../workflows/contracts/run.contract';
import { Gantry, startGantry } from '../support/gantry';
import { SseReader } from '../support/sse';
import { waitFor } from '../support/wait-for';

/** Time limit of the runs here, kept by the real server's timer; the workflow's own test has the 24 hours. */
const LIMIT_SECONDS = 15;

describe('a run beyond its time limit', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({ graphProcesses: 1, env: { GANTRY_RUN_TIMEOUT_SECONDS: String(LIMIT_SECONDS) } });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  it('ends as timeout: in its stream, for waiting clients, in run and thread; and its node is stopped', async () => {
    const { thread_id: thread } = await client.threads.create();
    const stream = await SseReader.post(`${gantry.url}/threads/${thread}/runs/stream`, {
      assistant_id: 'sleep',
      input: { sleep_ms: 600_000 },
    });
    const events = await stream.rest();
    const { run_id: run } = events[0].data as { run_id: string };
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { error: 'TimeoutError' } });
    expect(await client.runs.get(thread, run)).toMatchObject({ status: 'timeout' });
    const joined = await (await fetch(`${gantry.url}/threads/${thread}/runs/${run}/join`)).json();
    expect(joined).toMatchObject({ __error__: { error: 'TimeoutError' } });
    expect(await client.threads.get(thread)).toMatchObject({ status: 'error' });

    // The thread is free, and so is the worker.
    expect(await client.runs.wait(thread, 'three', { input: {} })).toHaveProperty('done');
    const handle = gantry.temporal.workflow.getHandle(`run-${run}`);
    await waitFor('the workflow to end', async () => (await handle.describe()).status.name === 'COMPLETED');
  });

  it('counts from its beginning, whichever workflow keeps the limit', async () => {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'sleep', { input: { sleep_ms: 600_000 } });
    const first = await (await gantry.workflowOf(run)).describe();
    await gantry.temporal.workflow.getHandle(first.workflowId, first.runId).terminate();
    const { rows } = await gantry.sql.query<{ elapsed: number }>(
      `SELECT extract(epoch FROM clock_timestamp() - started_at)::float8 * 1000 AS elapsed FROM runs WHERE run_id = $1`,
      [run],
    );
    const next = gantry.temporal.workflow.getHandle(first.workflowId);
    // The sweep looks for running runs without a workflow.
    await waitFor('another workflow', async () => (await next.describe()).runId !== first.runId);
    const { events } = await next.fetchHistory();
    const { input } = events![0].workflowExecutionStartedEventAttributes!;
    const { timeoutMs } = JSON.parse(Buffer.from(input!.payloads![0].data!).toString()) as RunWorkflowInput;
    expect(rows[0].elapsed).toBeGreaterThan(0);
    expect(timeoutMs).toBeLessThanOrEqual(Math.max(1, LIMIT_SECONDS * 1_000 - rows[0].elapsed));
    await client.runs.join(thread, run);
    expect(await client.runs.get(thread, run)).toMatchObject({ status: 'timeout' });
  });

  it('does not count the time in which it waits for a person', async () => {
    const { thread_id: thread } = await client.threads.create();
    await client.runs.wait(thread, 'ask', { input: {} });
    await new Promise((resolve) => setTimeout(resolve, (LIMIT_SECONDS + 1) * 1_000));
    expect(await client.threads.get(thread)).toMatchObject({ status: 'interrupted' });
    expect(await client.runs.wait(thread, 'ask', { command: { resume: false } })).toMatchObject({ answer: 'false' });
  });
});
