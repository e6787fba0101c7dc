import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import {
  CANCEL_EXPORT_SIGNAL,
  EXPORT_PARTITIONS_QUEUE,
  EXPORT_PROGRESS_QUERY,
  EXPORT_TURN_SIGNAL,
  exportWorkflowId,
} from '../../workflows/contracts/export.contract';
import { EXPORTS_QUEUE } from '../../workflows/contracts/queues';
import type { exportScheduleWorkflow } from '../../workflows/export-schedule.workflow';
import type { exportWorkflow } from '../../workflows/export.workflow';
import { FakeExports, hang } from '../support/fake-exports';
import { startTimeSkipping, type TimeSkipping } from '../support/time-skipping';
import { waitFor } from '../support/wait-for';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TENANT = 'tenant';

describe('export workflows', () => {
  let environment: TestWorkflowEnvironment;
  let workflowBundle: WorkflowBundleWithSourceMap;
  let stop: TimeSkipping['stop'] | undefined;
  let number = 0;

  beforeAll(async () => {
    ({ environment, workflowBundle, stop } = await startTimeSkipping(require.resolve('../../workflows')));
  });

  afterAll(() => stop?.());

  const now = (): Promise<number> => environment.currentTimeMs();

  async function withWorkers<T>(exports: FakeExports, work: () => Promise<T>): Promise<T> {
    const { nativeConnection: connection } = environment;
    const main = await Worker.create({
      connection,
      taskQueue: EXPORTS_QUEUE,
      workflowBundle,
      activities: exports.all(),
    });
    const partitions = await Worker.create({
      connection,
      taskQueue: EXPORT_PARTITIONS_QUEUE,
      activities: exports.all(),
      maxHeartbeatThrottleInterval: 50,
    });
    return partitions.runUntil(main.runUntil(work));
  }

  function input(exportId: string) {
    return { exportId, tenantId: TENANT, partitionConcurrency: 2, heartbeatTimeoutMs: 10_000, timeoutMs: DAY };
  }

  async function start(exportId = `export-${(number += 1)}`) {
    return environment.client.workflow.start<typeof exportWorkflow>('exportWorkflow', {
      workflowId: exportWorkflowId(exportId),
      taskQueue: EXPORTS_QUEUE,
      args: [input(exportId)],
    });
  }

  async function startSchedule(exportId = `schedule-${(number += 1)}`) {
    return environment.client.workflow.start<typeof exportScheduleWorkflow>('exportScheduleWorkflow', {
      workflowId: exportWorkflowId(exportId),
      taskQueue: EXPORTS_QUEUE,
      args: [input(exportId)],
    });
  }

  it('runs every partition once, a few at a time, and publishes the export', async () => {
    const exports = new FakeExports(now, () => new Promise((resolve) => setTimeout(resolve, 30)));
    exports.days.push(...Array.from({ length: 12 }, (_, n) => `2026-01-${String(n + 1).padStart(2, '0')}`));
    await withWorkers(exports, async () => {
      const handle = await start();
      expect(await handle.result()).toEqual({ ending: 'Completed' });
      expect(await handle.query(EXPORT_PROGRESS_QUERY)).toMatchObject({ partitionsTotal: 12, phase: 'finishing' });
    });
    expect([...exports.began].sort()).toEqual(exports.days);
    expect(exports.mostRunning).toBe(2);
    expect([exports.completed, exports.ended]).toEqual([1, []]);
  });

  it('ends as TimedOut when its time limit has passed, after its children have stopped', async () => {
    const exports = new FakeExports(now, hang);
    exports.days.push('2026-01-01', '2026-01-02', '2026-01-03');
    // The clock of the test doesn't jump while an activity is running: what is left of the 24 hours is short.
    exports.turn = { turn: 'taken', remainingMs: 1_500 };
    await withWorkers(exports, async () => {
      const handle = await start();
      expect(await handle.result()).toEqual({ ending: 'TimedOut' });
    });
    expect(exports.running).toBe(0);
    expect([...exports.began].sort()).toEqual(['2026-01-01', '2026-01-02']);
    expect(exports.ended.map(({ ending }) => ending)).toEqual(['TimedOut']);
    expect(exports.completed).toBe(0);
  });

  it('waits for its turn over several executions', async () => {
    const exports = new FakeExports(now);
    exports.days.push('2026-01-01');
    const created = await now();
    exports.turn = async () =>
      (await now()) - created > 3 * HOUR ? { turn: 'taken', remainingMs: DAY } : { turn: 'wait' };
    await withWorkers(exports, async () => {
      const handle = await start();
      expect(await handle.result()).toEqual({ ending: 'Completed' });
    });
    expect((await now()) - created).toBeGreaterThan(3 * HOUR);
  });

  it('asks for its turn at once when it is notified, and notifies those that wait at its end', async () => {
    const first = new FakeExports(now);
    let isFree = false;
    let asked = 0;
    first.turn = async () => {
      asked += 1;
      return isFree ? { turn: 'taken', remainingMs: DAY } : { turn: 'wait' };
    };
    await withWorkers(first, async () => {
      const handle = await start();
      await waitFor('the question about a turn', () => asked > 0);
      isFree = true;
      await handle.signal(EXPORT_TURN_SIGNAL);
      expect(await handle.result()).toEqual({ ending: 'Completed' });
      // An export that waits and is not there any more is no trouble to the one that reports it.
      first.waiting = ['gone'];
      expect(await (await start()).result()).toEqual({ ending: 'Completed' });
    });
  });

  it.each(['signal', 'request'])('ends as Cancelled by a %s, with its children stopped', async (kind) => {
    const exports = new FakeExports(now, hang);
    exports.days.push('2026-01-01', '2026-01-02', '2026-01-03');
    await withWorkers(exports, async () => {
      const handle = await start();
      await waitFor('two partitions', () => exports.running === 2);
      await (kind === 'signal' ? handle.signal(CANCEL_EXPORT_SIGNAL) : handle.cancel());
      expect(await handle.result()).toEqual({ ending: 'Cancelled' });
    });
    expect(exports.running).toBe(0);
    expect(exports.ended.map(({ ending }) => ending)).toEqual(['Cancelled']);
  });

  it('ends as Failed when a partition does, and starts no further ones', async () => {
    const exports = new FakeExports(now, async ({ day }) => {
      if (day === '2026-01-02')
        throw Object.assign(new Error('Access denied'), { nonRetryable: true, name: 'ExportFailure' });
      await new Promise((resolve) => setTimeout(resolve, 300));
    });
    exports.days.push('2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04');
    const all = exports.all();
    const { ApplicationFailure } = await import('@temporalio/common');
    exports.all = () => ({
      ...all,
      exportPartition: async (partition) => {
        try {
          return await all.exportPartition(partition);
        } catch (error) {
          throw ApplicationFailure.nonRetryable((error as Error).message);
        }
      },
    });
    await withWorkers(exports, async () => {
      const handle = await start();
      expect(await handle.result()).toEqual({ ending: 'Failed' });
    });
    expect(exports.failed).toEqual(['2026-01-02']);
    expect([...exports.began].sort()).toEqual(['2026-01-01', '2026-01-02']);
    expect(exports.done).toEqual(new Set(['2026-01-01']));
    expect(exports.ended.map(({ ending }) => ending)).toEqual(['Failed']);
  });

  it('ends at once when its row has ended', async () => {
    const exports = new FakeExports(now);
    exports.turn = { turn: 'over' };
    await withWorkers(exports, async () => {
      expect(await (await start()).result()).toEqual({ ending: 'Gone' });
    });
    expect([exports.completed, exports.ended]).toEqual([0, []]);
  });

  it('exports each window of a schedule 10 minutes after its end, for three months', async () => {
    const exports = new FakeExports(now);
    const from = await now();
    exports.schedule = { start: from, hours: 168, windows: 13 };
    // The clock jumps as soon as the schedule sleeps: what is spawned has to be short.
    exports.turn = { turn: 'over' };
    await withWorkers(exports, async () => {
      const handle = await startSchedule();
      expect(await handle.result()).toEqual({ ending: 'Gone' });
    });
    expect((await now()) - from).toBeGreaterThan(90 * DAY - HOUR);
    exports.spawned.forEach(({ window, at }, n) => {
      expect(Date.parse(window.start)).toBe(from + n * 168 * HOUR);
      expect(Date.parse(window.end)).toBe(from + (n + 1) * 168 * HOUR);
      expect(at - Date.parse(window.end)).toBeGreaterThanOrEqual(600_000);
      expect(at - Date.parse(window.end)).toBeLessThan(700_000);
    });
  }, 300_000);

  it('catches up one window after another, across executions', async () => {
    const exports = new FakeExports(now, () => new Promise((resolve) => setTimeout(resolve, 20)));
    exports.days.push('2026-01-01');
    exports.schedule = { start: (await now()) - 25 * HOUR - 600_000, hours: 1, windows: Infinity };
    await withWorkers(exports, async () => {
      const handle = await startSchedule();
      await waitFor('the exports of all windows', () => exports.spawned.length >= 25 && exports.completed >= 25);
      expect(exports.mostRunning).toBeLessThanOrEqual(1);
      await handle.signal(CANCEL_EXPORT_SIGNAL);
      // While a result is awaited, the clock jumps: it could reach the next window before the signal is handled.
      await waitFor('the end', async () => (await handle.describe()).status.name !== 'RUNNING');
      expect(await handle.result()).toEqual({ ending: 'Cancelled' });
    });
    expect(exports.ended.map(({ ending }) => ending)).toEqual(['Cancelled']);
    expect(exports.spawned.length).toBe(25);
  });
});
