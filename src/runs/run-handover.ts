import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import pLimit from 'p-limit';
import { AppConfig } from '../config/config';
import { RunOrchestrator } from '../temporal/run-orchestrator';
import type { WorkflowState } from '../temporal/workflow-state';
import { DeferredWorkflows } from './deferred-workflows';
import { OwnerSession } from './owner-session';
import { RunExecutor } from './run-executor';
import type { RunExecution } from './run-execution';
import { RunSweepRepository } from './run-sweep.repository';
import type { RunEntity } from './run.entity';

/** A living worker that loses its session has it again by then; three looks of another one fit in. */
const ABSENCE_MS = 1_000;
/** Runs of a lost worker that are handed over at a time, and workflows of such runs that are looked up at a time. */
const AT_ONCE = 16;
const DESCRIBE_TIMEOUT_MS = 5_000;
/** Largest share of the heartbeat timeout after which a run that was taken over gets its workflow. */
const SHARE_OF_HEARTBEAT = 0.1;
const LOOK_AGAIN_MS = 200;
/** Longest time that a worker which stops looks after the runs that it has handed back. */
const RECOVERY_MS = 5_000;

/**
 * Lets runs resume at once when the worker that had them was killed, instead of after its heartbeat timeout. This process takes
 * them over, as far as it has room, and their workflows then watch them here. For the others it makes Temporal forget the lost
 * worker, and Temporal gives them to any other one as usual. Nothing depends on it: the heartbeat detects the loss of a run
 * that is missed here.
 */
@Injectable()
export class RunHandover implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(RunHandover.name);
  private session: OwnerSession | undefined;
  /** Resolves to whether this process can execute runs, once it can or stops. */
  private readonly ready = Promise.withResolvers<boolean>();
  private readonly lookups = pLimit(AT_ONCE);

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
      silenceMs: this.config.worker.heartbeatTimeoutMs,
      onLost: (taskQueue) => this.handOver(taskQueue),
    });
    this.session.start();
  }

  /** Takes over runs of lost workers from now on, those included that were lost while this worker started. */
  takeOverRuns(): void {
    this.ready.resolve(true);
  }

  /** The worker executes no run any more. */
  async onModuleDestroy(): Promise<void> {
    this.ready.resolve(false);
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
      const workflow = await this.findOpenWorkflow(run.runId);
      if (workflow && isLost(workflow)) await this.leaveToTemporal(run, taskQueue);
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

  private async handOverRun(run: RunEntity, lost: string): Promise<void> {
    // Which version a run gets is for Temporal to say.
    if (this.config.worker.deployment || !(await this.ready.promise)) return this.leaveToTemporal(run, lost);
    const begun = await this.executor.takeOverRunOf(lost, run);
    if (begun.state === 'refused') return this.leaveToTemporal(run, lost);
    if (begun.state === 'held') void this.giveWorkflow(run, begun.execution, lost);
  }

  /** Lets the workflow of a run that was taken over here find it here. */
  private async giveWorkflow(run: RunEntity, execution: RunExecution, lost: string): Promise<void> {
    // First the runs resume: calls of Temporal for each of them would delay that. A failed attempt needs its workflow even more.
    const waitMs = Math.min(ABSENCE_MS, this.config.worker.heartbeatTimeoutMs * SHARE_OF_HEARTBEAT);
    await execution.settledWithin(waitMs);
    try {
      const workflow = await this.lookups(() => this.findOpenWorkflow(run.runId));
      if (workflow && !isElsewhere(workflow, lost)) return this.workflows.replace(run, execution);
    } catch (error) {
      this.logger.warn({ err: error, run_id: run.runId }, 'The run may be taken from here by its heartbeat timeout');
    }
    // Changes nothing where there is one.
    this.workflows.defer(run, execution);
  }

  /** Lets Temporal give the run to any worker. */
  private async leaveToTemporal(run: RunEntity, lost: string): Promise<void> {
    const workflow = await this.findOpenWorkflow(run.runId);
    if (workflow && isElsewhere(workflow, lost)) return;
    const watching = workflow?.activities.find(({ isStarted }) => isStarted);
    // A workflow task may be the lost worker's as well: then nothing would come of a failed activity before that task's timeout.
    if (watching && !workflow?.hasTask) {
      const isFailed = await this.orchestrator.failActivity(run.runId, watching.id);
      // Otherwise Temporal has noticed the loss by itself meanwhile.
      return isFailed ? undefined : this.leaveToTemporal(run, lost);
    }
    // A run keeps the version that it has.
    if (this.config.worker.deployment) return;
    await this.orchestrator.replaceRun(run, lost);
  }

  /**
   * State of a run's workflow; undefined when none is running. An absent worker gets no tasks, so one that was taken since is with
   * another worker: what comes of it shows in a moment.
   */
  private async findOpenWorkflow(runId: string): Promise<WorkflowState | undefined> {
    for (let restMs = ABSENCE_MS; ; restMs -= LOOK_AGAIN_MS) {
      const workflow = await this.orchestrator.describeRun(runId, DESCRIBE_TIMEOUT_MS);
      const takenAt = workflow?.taskTakenAt?.getTime() ?? 0;
      if (restMs <= 0 || takenAt < Date.now() - ABSENCE_MS)
        return workflow?.status === 'RUNNING' ? workflow : undefined;
      await sleep(LOOK_AGAIN_MS);
    }
  }
}

/** Whether another worker than the lost one has the run by now, is about to take it over, or writes its end. */
function isElsewhere({ activities }: WorkflowState, lost: string): boolean {
  return activities.some(
    ({ type, isStarted, worker }) => type === 'endRun' || (isStarted ? !worker.endsWith(lost) : type === 'executeRun'),
  );
}
