import { setMaxListeners } from 'node:events';
import { Injectable } from '@nestjs/common';
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type { TenantId } from '../src/auth/tenant';
import { ExportExecutor } from '../src/exports/export-executor';
import { toBulkExport } from '../src/exports/api/export.mapper';
import { PartitionExecutor } from '../src/exports/partitions/partition-executor';
import { ScheduleExecutor } from '../src/exports/schedule/schedule-executor';
import { ExportFailure } from '../src/exports/export-failure';
import {
  EXPORT_PARTITIONS_QUEUE,
  EndExportInput,
  EndPartitionInput,
  ExportActivities,
  ExportReference,
  PartitionReference,
  SpawnExportInput,
} from '../workflows/contracts/export.contract';
import { EXPORTS_QUEUE } from '../workflows/contracts/queues';
import { Activities, type ActivityProvider } from './activities';
import { whileBeating } from './heartbeat';

/** Heartbeats go out at least this often, however long a step takes. */
const HEARTBEAT_MS = 1_000;

/** Exports' activities: a contract in, one call, a contract out. */
@Injectable()
@Activities([EXPORTS_QUEUE, EXPORT_PARTITIONS_QUEUE])
export class ExportActivityProvider implements ActivityProvider {
  constructor(
    private readonly executor: ExportExecutor,
    private readonly partitions: PartitionExecutor,
    private readonly schedules: ScheduleExecutor,
  ) {}

  activities(): ExportActivities {
    return {
      takeTurn: async (input) => {
        const turn = await this.executor.takeTurn(tenant(input), input.exportId);
        return typeof turn === 'string' ? { turn } : { turn: 'taken', remainingMs: turn };
      },
      planExport: (input) =>
        attempt(async (signal) => {
          const { row, open } = await this.executor.plan(tenant(input), input.exportId, signal);
          return {
            partitionsTotal: row.partitionsTotal,
            partitionsDone: row.partitionsDone,
            rows: row.rowsWritten,
            bytes: row.bytesWritten,
            open: open.map(({ partitionId, day }) => ({ ...reference(input), exportRunId: partitionId, day })),
          };
        }),
      readProgress: async (input) => {
        const row = await this.executor.progress(tenant(input), input.exportId);
        if (row?.status !== 'Running') return null;
        const { progress } = toBulkExport(row);
        return {
          partitionsTotal: row.partitionsTotal,
          partitionsDone: row.partitionsDone,
          partitionsStalled: row.partitionsStalled,
          rows: row.rowsWritten,
          rowsTotal: row.rowsTotal,
          bytes: row.bytesWritten,
          rowsPerSecond: progress.rows_per_second,
          secondsLeft: progress.seconds_left,
        };
      },
      exportPartition: (input) => this.exportPartition(input),
      failPartition: ({ exportRunId, message, ...input }: EndPartitionInput) =>
        this.partitions.fail(tenant(input), exportRunId, message),
      completeExport: (input) =>
        attempt(async (signal) => {
          const isCompleted = await this.executor.complete(tenant(input), input.exportId, signal);
          return { isCompleted, waiting: await this.executor.waiting(tenant(input)) };
        }),
      endExport: async ({ ending, message, ...input }: EndExportInput) => {
        await this.executor.end(tenant(input), input.exportId, ending, message);
        return { waiting: await this.executor.waiting(tenant(input)) };
      },
      nextExportWindow: async (input) => {
        const window = await this.schedules.nextWindow(tenant(input), input.exportId);
        if (!window) return { next: 'over' };
        const { inMs, ...due } = window;
        return { next: 'due', window: due, inMs };
      },
      spawnExport: async (input: SpawnExportInput) => ({
        exportId: (await this.schedules.spawn(tenant(input), input.exportId, input.window)) ?? null,
      }),
    };
  }

  private exportPartition(input: PartitionReference) {
    return attempt(async (signal, heartbeat) => {
      const outcome = await this.partitions.export(tenant(input), input.exportId, input.exportRunId, signal, heartbeat);
      return { ending: 'Completed' as const, ...outcome };
    });
  }
}

function tenant({ tenantId }: { tenantId: string }): TenantId {
  return tenantId as TenantId;
}

function reference({ exportId, tenantId }: ExportReference): ExportReference {
  return { exportId, tenantId };
}

/** A worker that shuts down hands its work back; only requested stops are cancellations. */
function stopped(reason: unknown): Error {
  const isShutdown = reason instanceof CancelledFailure && reason.message === 'WORKER_SHUTDOWN';
  return isShutdown
    ? ApplicationFailure.retryable('The worker is shutting down', 'WorkerShutdown')
    : new CancelledFailure('The export was stopped');
}

/** Maximum of requests to the store for one activity: each listens for its cancellation. */
const MAX_LISTENERS = 100;

/** Runs a long step: sends heartbeats with the latest details, passes cancellation on, and marks final failures. */
async function attempt<T>(
  step: (signal: AbortSignal, heartbeat: (details: unknown) => void) => Promise<T>,
): Promise<T> {
  const context = Context.current();
  const { cancellationSignal } = context;
  let details: unknown;
  setMaxListeners(MAX_LISTENERS, cancellationSignal);
  const report = (latest: unknown): void => {
    details = latest;
    context.heartbeat(latest);
  };
  try {
    return await whileBeating(
      HEARTBEAT_MS,
      () => step(cancellationSignal, report),
      () => details,
    );
  } catch (error) {
    if (cancellationSignal.aborted) throw stopped(cancellationSignal.reason);
    if (error instanceof ExportFailure) {
      // Without its cause, which may say what users may not see: the workflow shows the message of the innermost one.
      throw ApplicationFailure.create({ message: error.message, type: error.name, nonRetryable: error.isFinal });
    }
    throw error;
  }
}
