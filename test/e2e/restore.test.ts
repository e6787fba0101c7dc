import { createTestDatabase, copyOf, type TestDatabase } from '../support/database';
import { type Gantry, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';

/**
 * A backup of Postgres alone, taken while runs are in flight, and restored elsewhere with an empty Temporal. Tests what
 * docs/operations.md promises of a restore.
 */
describe('a restore from a copy of the database, with an empty Temporal namespace', () => {
  let original: TestDatabase;
  let copy: TestDatabase | undefined;
  let before: Gantry | undefined;
  let after: Gantry | undefined;

  afterAll(async () => {
    await before?.stop();
    await after?.stop();
    await copy?.drop();
    await original?.drop();
  });

  it('resumes the running, the queued and the interrupted runs', async () => {
    original = await createTestDatabase();
    before = await startGantry({ sweepSeconds: 1, graphProcesses: 1, database: original });
    const client = before.client();

    const thread = async (): Promise<string> => (await client.threads.create()).thread_id;
    const [busy, asking, later] = [await thread(), await thread(), await thread()];
    await client.runs.wait(asking, 'ask', { input: { question: 'Restore?' } });
    const running = await client.runs.create(busy, 'ten', { input: { step_ms: 300 } });
    const queued = await client.runs.create(busy, 'sleep', { input: { note: 'behind it' } });
    const delayed = await client.runs.create(later, 'sleep', { input: { note: 'in time' }, afterSeconds: 5 });
    const doneSteps = async (gantry: Gantry): Promise<string[]> => {
      const executions = await gantry.ledger.of(running.run_id);
      return executions.map(({ node }) => node);
    };
    await waitFor('the third step', async () => (await doneSteps(before!)).length >= 3, 30_000);

    await before.killAll();
    const stepsBefore = await doneSteps(before);
    copy = await copyOf(original);

    after = await startGantry({ sweepSeconds: 1, graphProcesses: 1, database: copy });
    const restored = after.client();
    expect(await restored.threads.get(asking)).toMatchObject({ status: 'interrupted' });
    expect(await restored.runs.wait(asking, 'ask', { command: { resume: 'yes' } })).toMatchObject({ answer: 'yes' });
    await restored.runs.join(busy, running.run_id);
    await restored.runs.join(busy, queued.run_id);
    await restored.runs.join(later, delayed.run_id);
    for (const [threadId, { run_id: runId }] of [
      [busy, running],
      [busy, queued],
      [later, delayed],
    ] as const) {
      expect((await restored.runs.get(threadId, runId)).status).toBe('success');
    }
    // Finished steps were not run again: at most the one that was in flight.
    const repeated = (await doneSteps(after)).length - new Set(await doneSteps(after)).size;
    expect(stepsBefore.length).toBeGreaterThanOrEqual(3);
    expect(repeated).toBeLessThanOrEqual(1);
  });
});
