import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import pLimit from 'p-limit';
import { AppConfig } from '../config/config';
import { RunOrchestrator } from '../temporal/run-orchestrator';
import type { PendingActivity, WorkflowState } from '../temporal/workflow-state';
import { DeferredWorkflows } from './deferred-workflows';
import { OwnerSession } from './owner-session';
import { RunExecutor } from './run-executor';
import { RunSweepRepository } from './run-sweep.repository';
import type { RunEntity } from './run.entity';

/** A living worker that loses its session has it again by then; three looks of another one fit in. */
const ABSENCE_MS = 1_000;
/** Runs of a lost worker that are handed over at a time, with three calls to Temporal each. */
const AT_ONCE = 16;
const DESCRIBE_TIMEOUT_MS = 5_000;
const LOOK_AGAIN_MS = 200;
/** Longest time that a worker which stops looks after the runs that it has handed back. */
const RECOVERY_MS = 5_000;

/**
 * Lets runs resume at once when the worker that had them was killed, instead of after its heartbeat timeout: it makes Temporal
 * forget the lost worker, and Temporal gives the runs to any other one as usual. Nothing depends on it: a run that it misses is
 * missed by the heartbeat.
 */
@Injectable()
export class RunHandover implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(RunHandover.name);
  private session: OwnerSession | undefined;

  constructor(
    private readonly runs: RunSweepRepository,
    private readonly orchestrator: RunOrchestrator,
    private readonly executor: RunExecutor,
    private readonly workflows: DeferredWorkflows,
    private readonly config: AppConfig,
  ) {}

  /**
   * Registers this worker with the others and starts to watch them: while it still starts, so that lost runs are due by
   * then.
   */
  onModuleInit(): void {
    if (!this.config.worker.queues.includes('runs')) return;
    this.session = new OwnerSession({
      databaseUrl: this.config.database.url,
      taskQueue: this.executor.taskQueue,
      startsWorkflows: this.workflows.isEnabled,
      absenceMs: ABSENCE_MS,
      absenceAfterOutageMs: Math.max(ABSENCE_MS, this.config.worker.heartbeatTimeoutMs),
      onLost: (taskQueue) => this.handOver(taskQueue),
    });
    this.session.start();
  }

  /** The worker executes no run any more. */
  async onModuleDestroy(): Promise<void> {
    await this.session?.stop();
  }

  /**
   * Hands over the runs that were handed back but whose next task Temporal gave to a poll that this worker had just ended: no worker
   * has such a task, and Temporal only repeats it after its timeout. For a worker that has stopped polling.
   */
  async recoverHandedBack(): Promise<void> {
    const recovered = this.recoverRuns().catch((error: unknown) =>
      this.logger.warn({ err: error }, 'Runs that were handed back may wait until their tasks time out'),
    );
    await Promise.race([recovered, sleep(RECOVERY_MS, undefined, { ref: false })]);
  }

  private async recoverRuns(): Promise<void> {
    const { taskQueue } = this.executor;
    const isLost = ({ taskTakenAt, activities }: WorkflowState): boolean =>
      taskTakenAt !== undefined || activities.some(({ isStarted, worker }) => isStarted && worker.endsWith(taskQueue));
    const recover = async (run: RunEntity): Promise<void> => {
      const workflow = await this.describe(run.runId);
      if (workflow && isLost(workflow)) await this.handOverRun(run, taskQueue);
    };
    const limit = pLimit(AT_ONCE);
    const runs = await this.runs.findHandedBackRuns();
    await Promise.all(runs.map((run) => limit(() => recover(run))));
  }

  /** Harmless when it is repeated: what was handed over already waits for a worker, or has another owner. */
  private async handOver(taskQueue: string): Promise<void> {
    const runs = await this.runs.findRunsOfOwner(taskQueue);
    const limit = pLimit(AT_ONCE);
    const results = await Promise.allSettled(runs.map((run) => limit(() => this.handOverRun(run, taskQueue))));
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} runs were not handed over`);
    this.logger.log({ task_queue: taskQueue, runs: runs.length }, 'Runs of a lost worker handed over');
  }

  private async handOverRun(run: RunEntity, taskQueue: string): Promise<void> {
    const workflow = await this.describe(run.runId);
    const activities = workflow?.status === 'RUNNING' ? workflow.activities : [];
    // Another worker has it by now, is about to take it over, or writes its end.
    const isElsewhere = ({ type, isStarted, worker }: PendingActivity): boolean =>
      type === 'endRun' || (isStarted ? !worker.endsWith(taskQueue) : type === 'executeRun');
    if (activities.some(isElsewhere)) return;
    const lost = activities.find(({ isStarted }) => isStarted);
    // A workflow task may be the lost worker's as well: then nothing would come of a failed activity before that task's timeout.
    if (lost && !workflow?.hasTask) {
      const isFailed = await this.orchestrator.failActivity(run.runId, lost.id);
      // Otherwise Temporal has noticed the loss by itself meanwhile.
      return isFailed ? undefined : this.handOverRun(run, taskQueue);
    }
    // Which version a new workflow gets is for Temporal to say, and a run keeps the one that it has.
    if (this.config.worker.deployment) return;
    const elapsedMs = run.startedAt ? Date.now() - run.startedAt.getTime() : 0;
    await this.orchestrator.replaceRun(run, elapsedMs);
  }

  /**
   * State of a run's workflow. An absent worker gets no tasks, so one that was taken since is with another worker: what comes of it
   * shows in a moment.
   */
  private async describe(runId: string): Promise<WorkflowState | undefined> {
    for (let restMs = ABSENCE_MS; ; restMs -= LOOK_AGAIN_MS) {
      const workflow = await this.orchestrator.describeRun(runId, DESCRIBE_TIMEOUT_MS);
      const takenAt = workflow?.taskTakenAt?.getTime() ?? 0;
      if (restMs <= 0 || takenAt < Date.now() - ABSENCE_MS) return workflow;
      await sleep(LOOK_AGAIN_MS);
    }
  }
}
