import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Gantry, startGantry } from '../support/gantry';
import type { GantryProcess } from '../support/gantry-process';
import { waitFor } from '../support/wait-for';

const GRAPHS = join(__dirname, '..', 'support', 'graphs');

/** Two revisions of the graphs, each with workers of its own on the same queues, as during a rolling deploy. */
describe('a deploy over running and waiting runs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-deploy-'));
  let gantry: Gantry;

  function config(revision: 'a' | 'b'): string {
    const path = join(folder, `${revision}.json`);
    const file = join(GRAPHS, `revision-${revision}.ts`);
    const graphs = Object.fromEntries(['changing', 'staying', 'going'].map((name) => [name, `${file}:${name}`]));
    writeFileSync(path, JSON.stringify({ graphs }));
    return path;
  }

  const ofRevision = (revision: 'a' | 'b', more: Record<string, string> = {}): Record<string, string> => ({
    GANTRY_CONFIG: config(revision),
    GANTRY_REVISION: revision,
    ...more,
  });

  beforeAll(async () => {
    gantry = await startGantry({
      graphs: config('a'),
      workers: 0,
      graphProcesses: 1,
      env: { GANTRY_REVISION: 'a', GANTRY_WORKER_PORT: '0' },
    });
  });

  afterAll(async () => {
    await gantry?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Each deploy begins with workers of its own. */
  async function killWorkers(): Promise<void> {
    await Promise.all([...gantry.workers].map((worker) => gantry.killWorker('SIGKILL', worker)));
  }

  async function begin(graph: string, input: object): Promise<{ threadId: string; runId: string }> {
    const client = gantry.client();
    const { thread_id: threadId } = await client.threads.create();
    const { run_id: runId } = await client.runs.create(threadId, graph, { input: input as Record<string, unknown> });
    return { threadId, runId };
  }

  const stepsOf = async (threadId: string): Promise<string[]> =>
    ((await gantry.client().threads.getState<{ path?: string[] }>(threadId)).values.path ?? []) as string[];

  /** A run that stays at a node of the first revision until `goOn` is called. */
  async function holdAt(node: string): Promise<{ threadId: string; runId: string; goOn: () => void }> {
    const gate = join(folder, randomUUID());
    const run = await begin('changing', { held_at: node, gate });
    await waitFor(node, async () => (await gantry.ledger.of(run.runId)).at(-1)?.node === node);
    return { ...run, goOn: () => writeFileSync(gate, '') };
  }

  /** Asks a worker to stop, and waits until it has begun to. `ended` resolves when it has ended. */
  async function askToStop(worker: GantryProcess): Promise<{ ended: Promise<void>; listener: string }> {
    const [, listener] = /"url":"(http[^"]+)\/metrics"/.exec(worker.output)!;
    expect((await fetch(`${listener}/ready`)).status).toBe(200);
    const ended = gantry.killWorker('SIGTERM', worker);
    await waitFor('the old worker to be unready', async () => (await fetch(`${listener}/ready`)).status === 503);
    return { ended, listener };
  }

  describe('with minimal patience', () => {
    let ended: Promise<void>;
    let running: Awaited<ReturnType<typeof holdAt>>;
    let staying: Awaited<ReturnType<typeof begin>>;
    let going: Awaited<ReturnType<typeof begin>>;

    /** One deploy during a run that is at a node, with threads that wait for a person. */
    beforeAll(async () => {
      const old = await gantry.startWorker(ofRevision('a'));
      [staying, going, running] = await Promise.all([begin('staying', {}), begin('going', {}), holdAt('a:two')]);
      for (const { threadId, runId } of [staying, going]) await gantry.client().runs.join(threadId, runId);
      ({ ended } = await askToStop(old));
      running.goOn();
      await gantry.startWorker(ofRevision('b'));
    });

    it('hands a run over at a checkpoint: the new code continues after the work of the old code', async () => {
      await ended;
      await gantry.client().runs.join(running.threadId, running.runId);
      expect(await stepsOf(running.threadId)).toEqual(['a:one', 'a:two', 'b:three']);
      const { status, metadata } = await gantry.client().runs.get(running.threadId, running.runId);
      expect([status, metadata]).toMatchObject(['success', { revision_id: 'b' }]);
    });

    it('lets a thread that waits for a person resume with the new code', async () => {
      await gantry.client().runs.wait(staying.threadId, 'staying', { command: { resume: 'yes' } });
      expect(await stepsOf(staying.threadId)).toEqual(['b:yes']);
    });

    it('names the missing node and the revision when a thread waits at a node that was renamed', async () => {
      const client = gantry.client();
      const { threadId } = going;
      const answer = await client.runs.wait(threadId, 'going', { command: { resume: 'yes' }, raiseError: false });
      expect(answer).toMatchObject({
        __error__: { error: 'NodeNotFound', message: expect.stringContaining('waits at "approve"') },
      });
      expect(JSON.stringify(answer)).toMatch(/"going\\" of revision b .* revision a\./);
      expect(await client.threads.get(threadId)).toMatchObject({ status: 'error' });

      // The old code resumes it, as the message says.
      await gantry.killWorker('SIGTERM');
      await gantry.startWorker(ofRevision('a', { GANTRY_HAND_BACK_AFTER_SECONDS: '120' }));
      await client.runs.wait(threadId, 'going', { command: { resume: 'after all' } });
      expect(await stepsOf(threadId)).toEqual(['a:after all']);
    });
  });

  // On the worker of revision a that the case before has started, which leaves runs the time that they need.
  it('lets a run end on the code that it began with, while new runs use the new code', async () => {
    const old = gantry.worker;
    const first = await holdAt('a:one');
    await gantry.startWorker(ofRevision('b'));
    const { ended, listener } = await askToStop(old);
    expect((await fetch(`${listener}/ok`)).status).toBe(200);

    const second = await begin('changing', {});
    await gantry.client().runs.join(second.threadId, second.runId);
    const { run_id: next } = await gantry.client().runs.create(first.threadId, 'changing', {
      input: {},
      multitaskStrategy: 'enqueue',
    });
    first.goOn();
    await gantry.client().runs.join(first.threadId, first.runId);
    await ended;
    expect(old.exitCode).toBe(0);
    await gantry.client().runs.join(first.threadId, next);
    const [newest, before] = (await gantry.client().threads.getHistory<{ path?: string[] }>(first.threadId)).filter(
      ({ next: nodes }) => nodes.length === 0,
    );
    expect(before.values.path).toEqual(['a:one', 'a:two', 'a:three']);
    expect(newest.values.path).toEqual(['a:one', 'a:two', 'a:three', 'b:one', 'b:two', 'b:three']);
    expect(await stepsOf(second.threadId)).toEqual(['b:one', 'b:two', 'b:three']);
    const revision = async ({ threadId, runId }: typeof second): Promise<unknown> =>
      (await gantry.client().runs.get(threadId, runId)).metadata;
    expect(await revision(first)).toMatchObject({ revision_id: 'a' });
    expect(await revision(second)).toMatchObject({ revision_id: 'b' });
    expect(await revision({ ...first, runId: next })).toMatchObject({ revision_id: 'b' });
  });

  // This is the last test: from here on, work goes to versioned workers only.
  it('keeps a run on the version that it began on where workers are versioned, also when its worker restarts', async () => {
    await killWorkers();
    const versioned = { GANTRY_WORKER_DEPLOYMENT: 'gantry' };
    // The first version of a deployment makes itself the current one.
    const old = await gantry.startWorker(ofRevision('a', versioned));
    const first = await holdAt('a:one');
    const fresh = await gantry.startWorker(ofRevision('b', versioned));
    await waitFor('the way to promote', () => fresh.output.includes('--build-id 0.1.0-b'));
    const { connection, options } = gantry.temporal;
    await waitFor('the new version to be current', () =>
      connection.workflowService
        .setWorkerDeploymentCurrentVersion({
          namespace: options.namespace,
          deploymentName: 'gantry',
          buildId: '0.1.0-b',
        })
        .then(
          () => true,
          () => false,
        ),
    );
    const { ended } = await askToStop(old);
    first.goOn();
    await ended;
    // The run was handed back, and waits for a worker of its own version.
    const second = await begin('changing', {});
    await gantry.client().runs.join(second.threadId, second.runId);
    expect(await stepsOf(second.threadId)).toEqual(['b:one', 'b:two', 'b:three']);
    expect(await stepsOf(first.threadId)).toEqual(['a:one']);
    await gantry.startWorker(ofRevision('a', versioned));
    await gantry.client().runs.join(first.threadId, first.runId);
    expect(await stepsOf(first.threadId)).toEqual(['a:one', 'a:two', 'a:three']);
  });
});
