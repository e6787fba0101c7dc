import { Injectable } from '@nestjs/common';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { ExecutionBroken } from '../src/graphs/host/graph-thread-handle';
import { RunExecutor } from '../src/runs/run-executor';
import type { EndRunInput, ExecuteRunResult, RunActivities } from '../workflows/contracts/run.contract';
import { whileBeating } from './heartbeat';

/** The beat is this many times faster than the timeout, so that one late beat loses nothing. */
const BEATS_PER_TIMEOUT = 4;

/** The activities of runs, as Temporal's worker takes them. */
@Injectable()
export class RunActivityProvider {
  constructor(private readonly executor: RunExecutor) {}

  activities(): RunActivities {
    return {
      executeRun: (input) => this.executeRun(input),
      endRun: (input) => this.endRun(input),
    };
  }

  private async executeRun({ runId }: { runId: string }): Promise<ExecuteRunResult> {
    const context = Context.current();
    // Independent of the graph, which runs in another thread: only a dead or frozen process stops beating.
    const timeoutMs = context.info.heartbeatTimeoutMs ?? 10_000;
    let node: string | undefined;
    try {
      const execution = {
        signal: context.cancellationSignal,
        isCancelRequested: () => context.cancellationDetails?.cancelRequested ?? false,
        // Temporal UI shows it at the pending activity, with the next beat.
        onNode: (name: string) => {
          node = name;
        },
      };
      const beatMs = timeoutMs / BEATS_PER_TIMEOUT;
      return await whileBeating(
        beatMs,
        () => this.executor.execute(runId, execution),
        () => ({ node }),
      );
    } catch (error) {
      throw error instanceof ExecutionBroken ? brokenFailure(error) : error;
    }
  }

  private endRun(input: EndRunInput): Promise<ExecuteRunResult> {
    return this.executor.end(input);
  }
}

/** Repeated in any case: a fenced attempt's report goes nowhere, since Temporal waits for another one by then. */
function brokenFailure(error: ExecutionBroken): ApplicationFailure {
  return ApplicationFailure.create({
    message: error.message,
    type: 'ExecutionBroken',
    cause: error,
  });
}
