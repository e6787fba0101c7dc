import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import pLimit from 'p-limit';
import { DataSource } from 'typeorm';
import { acrossTenants } from '../database/request-scope';
import { startOrLeaveToSweep } from '../sweeps/start-or-leave-to-sweep';
import { RunOrchestrator, type RunReference } from '../temporal/run-orchestrator';

/** Time that a worker has to take a run, which waits there for so long. One with room takes it within milliseconds. */
const TAKEN_MS = 3_000;
/** Least time between two looks, so that one statement looks after the runs of a busy server. */
const LOOK_INTERVAL_MS = 250;
/** How long the answer is used whether there is a worker that starts workflows. */
const WORKERS_KNOWN_MS = 1_000;

/** Workflows that are started at a time, so that those of a batch leave room for the runs of others. */
const AT_ONCE = 8;

interface Left {
  run: RunReference;
  /** Time by `performance.now()`. */
  dueAt: number;
}

/**
 * Due runs whose workflows are left to the worker that begins them. The workflow of a run that none has begun in time is
 * started here: it then waits in Temporal for a worker with room. If this process ends before, the sweep starts it.
 */
@Injectable()
export class UntakenRuns {
  /** Oldest first. */
  private readonly left: Left[] = [];
  private readonly limit = pLimit(AT_ONCE);
  private timer: NodeJS.Timeout | undefined;
  private isStopping = false;
  private workers: { areStarting: Promise<boolean>; at: number } | undefined;

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly orchestrator: RunOrchestrator,
  ) {}

  /** Starts the workflow of a stored run, unless a worker does. Never rejects. */
  async start(run: RunReference): Promise<void> {
    if (this.isStopping || !(await this.areWorkersStarting())) return this.startHere(run);
    const { runId, threadId, assistantId, graphId, tenantId } = run;
    this.left.push({ run: { runId, threadId, assistantId, graphId, tenantId }, dueAt: performance.now() + TAKEN_MS });
    this.schedule();
  }

  /** Leaves no run to be looked after here, for a worker that is about to stop: workflows are started at once from now on. */
  stop(): void {
    this.isStopping = true;
    for (const { run } of this.left.splice(0)) void this.limit(() => this.startHere(run));
  }

  /** Whether any worker is notified of due runs and starts their workflows. */
  private areWorkersStarting(): Promise<boolean> {
    if (!this.workers || performance.now() - this.workers.at > WORKERS_KNOWN_MS) {
      this.workers = { areStarting: this.findStartingWorker(), at: performance.now() };
    }
    return this.workers.areStarting;
  }

  private async findStartingWorker(): Promise<boolean> {
    try {
      const found = await acrossTenants(() =>
        this.database.query<unknown[]>('SELECT FROM run_owners WHERE starts_workflows LIMIT 1'),
      );
      return found.length > 0;
    } catch {
      return false;
    }
  }

  private schedule(): void {
    const [oldest] = this.left;
    if (!oldest) return;
    const waitMs = Math.max(LOOK_INTERVAL_MS, oldest.dueAt - performance.now());
    this.timer ??= setTimeout(() => void this.look(), waitMs).unref();
  }

  private async look(): Promise<void> {
    const now = performance.now();
    const later = this.left.findIndex(({ dueAt }) => dueAt > now);
    const due = this.left.splice(0, later < 0 ? this.left.length : later).map(({ run }) => run);
    for (const run of await this.findUntaken(due)) void this.limit(() => this.startHere(run));
    this.timer = undefined;
    this.schedule();
  }

  /** Those that wait, or were begun by a worker that doesn't start workflows; all of them if the database doesn't answer. */
  private async findUntaken(runs: RunReference[]): Promise<RunReference[]> {
    try {
      const found = await acrossTenants(() =>
        this.database.query<{ runId: string }[]>(
          `SELECT run_id AS "runId" FROM runs r
           WHERE run_id = ANY ($1::uuid[]) AND (status = 'pending' OR (status = 'running' AND NOT EXISTS (
             SELECT FROM run_owners o WHERE o.task_queue = r.task_queue AND o.starts_workflows
           )))`,
          [runs.map(({ runId }) => runId)],
        ),
      );
      const untaken = new Set(found.map(({ runId }) => runId));
      return runs.filter(({ runId }) => untaken.has(runId));
    } catch {
      return runs;
    }
  }

  private startHere(run: RunReference): Promise<void> {
    return startOrLeaveToSweep('Run', { run_id: run.runId }, () => this.orchestrator.startRun(run));
  }
}
