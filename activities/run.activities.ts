import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { ExecutionBroken } from '../src/graphs/host/graph-process.errors';
import { RunExecution } from '../src/runs/run-execution';
import { RunExecutor } from '../src/runs/run-executor';
import { RUNS_QUEUE } from '../workflows/contracts/queues';
import type {
  BeginRunInput,
  BeginRunResult,
  EndRunInput,
  ExecuteRunInput,
  ExecuteRunResult,
  HeldRun,
  RunActivities,
} from '../workflows/contracts/run.contract';
import { Activities, type ActivityProvider } from './activities';
import { whileBeating } from './heartbeat';

/** The beat is this many times faster than the timeout, so that one late beat loses nothing. */
const BEATS_PER_TIMEOUT = 4;
/** Pause before the first check of a run that another process owns; each pause is twice as long as the one before. */
const FIRST_LOOK_MS = 50;

/** Details of a heartbeat, once the process has the run. */
interface Beat {
  /** Node that the graph is executing, if any. */
  node?: string | undefined;
  /** Task queue of the process. */
  taskQueue?: string;
}

/** The activities of runs, as Temporal's worker takes them. */
@Injectable()
@Activities([RUNS_QUEUE])
export class RunActivityProvider implements ActivityProvider {
  constructor(private readonly executor: RunExecutor) {}

  /** Activities that any worker of runs can execute. */
  activities(): Omit<RunActivities, 'watchRun'> {
    return {
      beginRun: (input) => this.beginRun(input),
      executeRun: (input) => this.executeRun(input),
      endRun: (input) => this.endRun(input),
    };
  }

  /** Activities that only the process that owns the run can execute. */
  ownedActivities(): Pick<RunActivities, 'watchRun'> {
    return { watchRun: (input) => this.watchRun(input) };
  }

  private async beginRun({ runId, waitMs }: BeginRunInput): Promise<BeginRunResult> {
    let begun = await this.executor.beginRun(runId);
    // Most runs that another process owns end before an activity there could watch them. One that was handed back has no owner.
    for (let pauseMs = FIRST_LOOK_MS; begun.state === 'elsewhere' && begun.taskQueue; pauseMs *= 2) {
      if (remainingWait(begun.startedAt, waitMs) <= pauseMs) break;
      await sleep(pauseMs);
      begun = await this.executor.beginRun(runId);
    }
    switch (begun.state) {
      case 'held': {
        const result = await begun.execution.endedWithin(remainingWait(begun.execution.startedAt, waitMs));
        return result ? { state: 'ended', result } : { state: 'held', taskQueue: this.executor.taskQueue };
      }
      case 'elsewhere':
        return begun.taskQueue ? { state: 'held', taskQueue: begun.taskQueue } : { state: 'refused' };
      default:
        return begun;
    }
  }

  private watchRun({ runId }: { runId: string }): Promise<ExecuteRunResult> {
    return this.watch<never>(async () => {
      const execution = this.executor.findExecution(runId);
      if (!execution) throw ApplicationFailure.nonRetryable('The run is not executed here any more', 'NotHeld');
      return execution;
    });
  }

  private executeRun({ runId, from }: ExecuteRunInput): Promise<ExecuteRunResult | HeldRun> {
    // A repetition follows the loss of the process that had taken the run for this activity, if one had.
    const earlier = Context.current().info.heartbeatDetails as Beat | undefined;
    const lostBy = from === undefined ? undefined : (earlier?.taskQueue ?? from);
    return this.watch<ExecuteRunResult | HeldRun>(async () => {
      const known = this.executor.findExecution(runId);
      if (known) return known;
      const taken = await this.executor.takeOverRun(runId, lostBy);
      switch (taken.state) {
        case 'held':
          return taken.execution;
        case 'ended':
          return taken.result;
        case 'elsewhere':
          return { state: 'held', taskQueue: taken.taskQueue };
      }
    });
  }

  private endRun(input: EndRunInput): Promise<ExecuteRunResult> {
    return this.executor.endRun(input);
  }

  /**
   * Waits for the end of an attempt, while Temporal gets heartbeats and the attempt gets Temporal's requests.
   * @param take resolves to the attempt, or to the answer where there is none to wait for
   */
  private async watch<Answer>(take: () => Promise<RunExecution | Answer>): Promise<ExecuteRunResult | Answer> {
    const context = Context.current();
    const { cancellationSignal: signal } = context;
    let execution: RunExecution | undefined;
    const onAbort = (): void => {
      if (context.cancellationDetails?.cancelRequested) execution?.cancel();
      else execution?.stop();
    };
    const { taskQueue } = this.executor;
    const beat = (): Beat => (execution ? { node: execution.node, taskQueue } : {});
    const work = async (): Promise<ExecuteRunResult | Answer> => {
      const taken = await take();
      if (!(taken instanceof RunExecution)) return taken;
      execution = taken;
      if (signal.aborted) onAbort();
      // Not later: another attempt at this activity has to know that the run was taken.
      context.heartbeat(beat());
      return execution.watch();
    };
    signal.addEventListener('abort', onAbort);
    try {
      // Independent of the graph, which runs in another thread: only a dead or frozen process stops beating.
      const beatMs = (context.info.heartbeatTimeoutMs ?? 10_000) / BEATS_PER_TIMEOUT;
      // Temporal UI shows the node at the pending activity, with the next beat.
      return await whileBeating(beatMs, work, beat);
    } catch (error) {
      throw error instanceof ExecutionBroken ? brokenFailure(error) : error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}

/** A run that its worker began earlier, and handed to its workflow since it takes longer, is watched at once. */
function remainingWait(startedAt: Date, waitMs: number): number {
  return Math.min(waitMs, Math.max(0, startedAt.getTime() + waitMs - Date.now()));
}

/** Retried in any case: the report of a fenced attempt is ignored, since Temporal waits for another one by then. */
function brokenFailure(error: ExecutionBroken): ApplicationFailure {
  return ApplicationFailure.create({
    message: error.message,
    type: 'ExecutionBroken',
    cause: error,
  });
}
