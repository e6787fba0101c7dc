import { CancelledFailure, Context } from '@temporalio/activity';
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { WEBHOOKS_QUEUE } from '../../workflows/contracts/queues';
import type {
  EndRunInput,
  ExecuteRunInput,
  ExecuteRunResult,
  RunActivities,
  RunWorkflowResult,
} from '../../workflows/contracts/run.contract';
import { webhookWorkflowId } from '../../workflows/contracts/webhook.contract';
import type { runWorkflow } from '../../workflows/run.workflow';
import type { webhookDeliveryWorkflow } from '../../workflows/webhook-delivery.workflow';
import { startTimeSkipping, type TimeSkipping } from '../support/time-skipping';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('run workflow', () => {
  let environment: TestWorkflowEnvironment;
  let workflowBundle: WorkflowBundleWithSourceMap;
  let stop: TimeSkipping['stop'] | undefined;
  let runs = 0;

  beforeAll(async () => {
    ({ environment, workflowBundle, stop } = await startTimeSkipping(require.resolve('../../workflows')));
  });

  afterAll(() => stop?.());

  type RunHandle = WorkflowHandleWithFirstExecutionRunId<typeof runWorkflow>;

  interface Options {
    /** Activities of the worker that executes the workflow; by default it refuses to begin the run. */
    activities?: Partial<RunActivities>;
    /** Task queue of the process that owns the run; without it, no worker polls there. */
    holder?: Pick<RunActivities, 'watchRun'>;
    /** The heartbeat's lapse is the server's business: by default it must not come before what is looked at. */
    heartbeatTimeoutMs?: number;
    timeoutMs?: number;
    /** Task queue of the process that the workflow is to take the run from. */
    from?: string;
    /** Called when the workflow has been started. */
    meanwhile?: (handle: RunHandle) => Promise<void>;
  }

  /** Runs the workflow to its end with these activities; `ends` is what endRun was asked for. */
  async function run({
    activities = {},
    holder,
    heartbeatTimeoutMs = 2 * DAY_MS,
    timeoutMs = DAY_MS,
    from,
    meanwhile,
  }: Options) {
    runs += 1;
    const ends: EndRunInput[] = [];
    const endRun = async (input: EndRunInput): Promise<ExecuteRunResult> => {
      ends.push(input);
      return { ending: input.ending };
    };
    // A task queue of its own, so that the worker of a failed test can't take the tasks of the next one.
    const taskQueue = `runs-${runs}`;
    const worker = await Worker.create({
      connection: environment.nativeConnection,
      taskQueue,
      workflowBundle,
      activities: { endRun, beginRun: async () => ({ state: 'refused' }), ...activities },
      // A cancellation is heard with the answer to a heartbeat.
      maxHeartbeatThrottleInterval: '100 milliseconds',
    });
    const holding =
      holder &&
      (await Worker.create({
        connection: environment.nativeConnection,
        taskQueue: heldAt(taskQueue),
        activities: holder,
        maxHeartbeatThrottleInterval: '100 milliseconds',
      }));
    const runId = `00000000-0000-4000-8000-${String(runs).padStart(12, '0')}`;
    const handle = await environment.client.workflow.start<typeof runWorkflow>('runWorkflow', {
      workflowId: `run-${runId}`,
      taskQueue,
      args: [{ runId, timeoutMs, heartbeatTimeoutMs, ...(from !== undefined && { takesOver: true, from }) }],
    });
    const work = async (): Promise<RunWorkflowResult> => {
      await meanwhile?.(handle);
      return handle.result();
    };
    const result = await worker.runUntil(holding ? () => holding.runUntil(work) : work);
    return { result, ends, runId };
  }

  const heldAt = (taskQueue: string): string => `${taskQueue}-held`;
  /** A run that takes longer than the worker waits for it. */
  const beginsLong: RunActivities['beginRun'] = async () => ({
    state: 'held',
    taskQueue: heldAt(`runs-${runs}`),
  });

  /** A graph that runs until its worker is asked to stop; `begun` resolves when it runs. */
  function endlessGraph(ending: 'interrupted' | 'deleted' | 'nothing') {
    let begin!: () => void;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const executeRun = async (): Promise<ExecuteRunResult> => {
      const beat = setInterval(() => Context.current().heartbeat(), 100);
      begin();
      try {
        return await Context.current().cancelled;
      } catch (error) {
        // What cancellation does to an activity that doesn't know how to end a run.
        if (ending === 'nothing' || !(error instanceof CancelledFailure)) throw error;
        return { ending };
      } finally {
        clearInterval(beat);
      }
    };
    const cancel = async (handle: RunHandle): Promise<void> => {
      await begun;
      await handle.cancel();
    };
    return { executeRun, cancel };
  }

  it('ends with its first activity, when the graph does', async () => {
    for (const ending of ['success', 'error', 'interrupted', 'waiting', 'deleted'] as const) {
      const asked: string[] = [];
      const beginRun: RunActivities['beginRun'] = async ({ runId }) => {
        asked.push(runId);
        return { state: 'ended', result: { ending } };
      };
      const { result, ends, runId } = await run({ activities: { beginRun } });
      expect(result).toEqual({ ending });
      expect(asked).toEqual([runId]);
      expect(ends).toEqual([]);
      const { events } = await environment.client.workflow.getHandle(`run-${runId}`).fetchHistory();
      // The activity was a local one, so nothing was scheduled.
      expect(events!.some(({ activityTaskScheduledEventAttributes }) => activityTaskScheduledEventAttributes)).toBe(
        false,
      );
    }
  });

  it('is watched on the worker that owns it, when it takes longer', async () => {
    const watched: string[] = [];
    const watchRun: RunActivities['watchRun'] = async ({ runId }) => {
      watched.push(runId);
      return { ending: 'success' };
    };
    const { result, ends, runId } = await run({ activities: { beginRun: beginsLong }, holder: { watchRun } });
    expect(result).toEqual({ ending: 'success' });
    expect(watched).toEqual([runId]);
    expect(ends).toEqual([]);
  });

  const success = async (): Promise<ExecuteRunResult> => ({ ending: 'success' });
  const broken = async (): Promise<never> => {
    throw ApplicationFailure.create({ message: 'The worker handed the run back' });
  };
  const gone = async (): Promise<never> => {
    throw ApplicationFailure.nonRetryable('The run is not executed here any more');
  };

  it.each<[string, Options]>([
    ['could not be begun', { activities: { beginRun: gone } }],
    ['was begun, and then handed back', { activities: { beginRun: broken } }],
    ['is not owned any more', { activities: { beginRun: beginsLong }, holder: { watchRun: gone } }],
    ['was watched, and then handed back', { activities: { beginRun: beginsLong }, holder: { watchRun: broken } }],
    // No worker polls there.
    ['was owned by a process that died', { activities: { beginRun: beginsLong }, heartbeatTimeoutMs: 10_000 }],
  ])('is executed by any worker when it %s', async (_, options) => {
    let executed = 0;
    const executeRun = async (): Promise<ExecuteRunResult> => {
      executed += 1;
      return success();
    };
    const { result, ends } = await run({ ...options, activities: { ...options.activities, executeRun } });
    expect(result).toEqual({ ending: 'success' });
    expect(executed).toBe(1);
    expect(ends).toEqual([]);
  });

  it('is watched where another process took it over from the one that lost it', async () => {
    const taken: ExecuteRunInput[] = [];
    const watched: string[] = [];
    const executeRun: RunActivities['executeRun'] = async (input) => {
      taken.push(input);
      // The second time it is the process that took it over which has lost it.
      return taken.length === 1 ? { state: 'held', taskQueue: heldAt(`runs-${runs}`) } : success();
    };
    const watchRun: RunActivities['watchRun'] = async ({ runId }) => {
      watched.push(runId);
      return gone();
    };
    const { result, ends, runId } = await run({
      activities: { beginRun: async () => ({ state: 'held', taskQueue: heldAt('lost') }), executeRun },
      holder: { watchRun },
      // No worker polls where it was lost.
      heartbeatTimeoutMs: 10_000,
    });
    expect(result).toEqual({ ending: 'success' });
    expect(taken).toEqual([
      { runId, from: heldAt('lost') },
      { runId, from: heldAt(`runs-${runs}`) },
    ]);
    expect(watched).toEqual([runId]);
    expect(ends).toEqual([]);
  });

  it('takes a run from the process that has lost it, and from no other', async () => {
    const taken: ExecuteRunInput[] = [];
    const executeRun: RunActivities['executeRun'] = async (input) => {
      taken.push(input);
      return { state: 'held', taskQueue: heldAt(`runs-${runs}`) };
    };
    const { result, ends, runId } = await run({
      from: 'lost',
      activities: { executeRun },
      holder: { watchRun: success },
    });
    expect(result).toEqual({ ending: 'success' });
    expect(taken).toEqual([{ runId, from: 'lost' }]);
    expect(ends).toEqual([]);
  });

  it('is watched where a process has it, when it could not be begun: it is not taken from there', async () => {
    const taken: ExecuteRunInput[] = [];
    const executeRun: RunActivities['executeRun'] = async (input) => {
      taken.push(input);
      return { state: 'held', taskQueue: heldAt(`runs-${runs}`) };
    };
    const { result, ends, runId } = await run({
      activities: { beginRun: gone, executeRun },
      holder: { watchRun: success },
    });
    expect(result).toEqual({ ending: 'success' });
    expect(taken).toEqual([{ runId, from: null }]);
    expect(ends).toEqual([]);
  });

  it('is a timeout when its time limit passes while it is watched, and no other worker takes it over', async () => {
    const watchRun = async (): Promise<never> => Context.current().cancelled;
    const executeRun = jest.fn(success);
    const { result, ends, runId } = await run({
      activities: { beginRun: beginsLong, executeRun },
      holder: { watchRun },
      // The clock doesn't jump over what a worker is executing.
      timeoutMs: 2_000,
    });
    expect(result).toEqual({ ending: 'timeout' });
    expect(ends).toEqual([{ runId, ending: 'timeout' }]);
    expect(executeRun).not.toHaveBeenCalled();
  });

  it('ends as the graph ended, and records no second end', async () => {
    for (const ending of ['success', 'error', 'interrupted', 'waiting', 'deleted'] as const) {
      const { result, ends } = await run({ activities: { executeRun: async () => ({ ending }) } });
      expect(result).toEqual({ ending });
      expect(ends).toEqual([]);
    }
  });

  /** Fails, for a while or always, and asks to be repeated in two hours: the clock jumps over what no worker is executing. */
  function brokenFor(attempts: number) {
    let failures = 0;
    return async (): Promise<ExecuteRunResult> => {
      failures += 1;
      if (failures > attempts) return { ending: 'success' };
      throw ApplicationFailure.create({ message: 'The worker handed the run back', nextRetryDelay: '2 hours' });
    };
  }

  it('is a timeout after 24 h, recorded once', async () => {
    const { result, ends, runId } = await run({ activities: { executeRun: brokenFor(Infinity) } });
    const { startTime, closeTime } = await environment.client.workflow.getHandle(`run-${runId}`).describe();
    const hours = (closeTime!.getTime() - startTime.getTime()) / HOUR_MS;
    expect(hours).toBeGreaterThan(21.9);
    expect(hours).toBeLessThan(24.1);
    expect(result).toEqual({ ending: 'timeout' });
    expect(ends).toEqual([{ runId, ending: 'timeout' }]);
  });

  it('is no timeout when an attempt succeeds after 22 h', async () => {
    const { result, ends } = await run({ activities: { executeRun: brokenFor(11) } });
    expect(result).toEqual({ ending: 'success' });
    expect(ends).toEqual([]);
  });

  it('retries an attempt that failed, until one succeeds', async () => {
    let attempts = 0;
    const executeRun = async (): Promise<ExecuteRunResult> => {
      attempts += 1;
      if (attempts < 5) throw new Error('The database is away');
      return { ending: 'success' };
    };
    const { result, ends } = await run({ activities: { executeRun } });
    expect(result).toEqual({ ending: 'success' });
    expect(attempts).toBe(5);
    expect(ends).toEqual([]);
  });

  it('ends in error, with the reason, where a retry is of no use', async () => {
    const executeRun = async (): Promise<ExecuteRunResult> => {
      throw ApplicationFailure.nonRetryable('The run can not be read');
    };
    const { result, ends, runId } = await run({ activities: { executeRun } });
    expect(result).toEqual({ ending: 'error' });
    expect(ends).toEqual([{ runId, ending: 'error', message: 'The run can not be read' }]);
  });

  it('waits for the graph to stop when it is cancelled, and takes over the ending that the graph reports', async () => {
    for (const ending of ['interrupted', 'deleted'] as const) {
      const { executeRun, cancel } = endlessGraph(ending);
      const { result, ends } = await run({ activities: { executeRun }, meanwhile: cancel });
      expect(result).toEqual({ ending });
      expect(ends).toEqual([]);
      const watched = endlessGraph(ending);
      const ended = await run({
        activities: { beginRun: beginsLong },
        holder: { watchRun: watched.executeRun },
        meanwhile: watched.cancel,
      });
      expect([ended.result, ended.ends]).toEqual([{ ending }, []]);
    }
  });

  it('is recorded as interrupted when it is cancelled and the worker does not report how it ended', async () => {
    const { executeRun, cancel } = endlessGraph('nothing');
    const { result, ends, runId } = await run({ activities: { executeRun }, meanwhile: cancel });
    expect(result).toEqual({ ending: 'interrupted' });
    expect(ends).toEqual([{ runId, ending: 'interrupted' }]);
  });

  it('records the end however long the database is away', async () => {
    let attempts = 0;
    const activities: Partial<RunActivities> = {
      executeRun: async () => {
        throw ApplicationFailure.nonRetryable('Lost');
      },
      endRun: async ({ ending }) => {
        attempts += 1;
        if (attempts < 30) throw new Error('The database is away');
        return { ending };
      },
    };
    const { result } = await run({ activities });
    expect(result).toEqual({ ending: 'error' });
    expect(attempts).toBe(30);
  });

  it.each([
    // Runs first, since a child that no worker takes stops the clock.
    ['timed out', brokenFor(Infinity)],
    ['finished', async () => ({ ending: 'success' as const, deliveryId: 'f0000000-0000-4000-8000-000000000001' })],
  ])('leaves the webhook of a run that %s to a workflow that outlives it', async (how, executeRun) => {
    const deliveryId = `f0000000-0000-4000-8000-00000000000${how === 'finished' ? 1 : 2}`;
    await run({ activities: { executeRun, endRun: async ({ ending }) => ({ ending, deliveryId }) } });
    const delivery = environment.client.workflow.getHandle(webhookWorkflowId(deliveryId));
    // No worker delivers here: it is open, though the run has ended.
    expect((await delivery.describe()).status.name).toBe('RUNNING');
    await delivery.terminate();
  });

  it('ends although the sweep was the first to start its webhook', async () => {
    const deliveryId = 'f0000000-0000-4000-8000-000000000003';
    const delivery = await environment.client.workflow.start<typeof webhookDeliveryWorkflow>(
      'webhookDeliveryWorkflow',
      { workflowId: webhookWorkflowId(deliveryId), taskQueue: WEBHOOKS_QUEUE, args: [{ deliveryId }] },
    );
    const { result } = await run({
      activities: { beginRun: async () => ({ state: 'ended', result: { ending: 'success', deliveryId } }) },
    });
    expect(result).toEqual({ ending: 'success' });
    await delivery.terminate();
  });
});
