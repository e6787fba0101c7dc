import { defaultPayloadConverter } from '@temporalio/common';
import { google, temporal } from '@temporalio/proto';

const { PENDING_ACTIVITY_STATE_STARTED } = temporal.api.enums.v1.PendingActivityState;

/** An activity of a workflow that hasn't ended. */
export interface PendingActivity {
  id: string;
  type: string;
  /** Whether a worker executes it, as opposed to waiting for a worker or its next attempt. */
  isStarted: boolean;
  /** Identity of the worker of the current or last attempt; empty before the first one. */
  worker: string;
  /** Counts from 1; undefined while Temporal doesn't say. */
  attempt: number | undefined;
  /** Node of the graph that the activity's last heartbeat named. */
  node: string | undefined;
  /** Message of the failure of the attempt before this one. */
  lastFailure: string | undefined;
}

export interface WorkflowState {
  /** Temporal's name of the status: `RUNNING`, `COMPLETED`, … */
  status: string;
  activities: PendingActivity[];
  /** Whether a workflow task is due, or a worker has one. */
  hasTask: boolean;
  /** When a worker got the workflow task that it has. */
  taskTakenAt?: Date;
}

export function toPendingActivity({
  activityId,
  activityType,
  state,
  attempt,
  lastWorkerIdentity,
  heartbeatDetails,
  lastFailure,
}: temporal.api.workflow.v1.IPendingActivityInfo): PendingActivity {
  const [details] = heartbeatDetails?.payloads ?? [];
  const beat = details ? defaultPayloadConverter.fromPayload<{ node?: string } | undefined>(details) : undefined;
  return {
    id: activityId ?? '',
    type: activityType?.name ?? '',
    isStarted: state === PENDING_ACTIVITY_STATE_STARTED,
    worker: lastWorkerIdentity ?? '',
    attempt: attempt ?? undefined,
    node: beat?.node,
    lastFailure: lastFailure?.message ?? undefined,
  };
}

export function toDate({ seconds, nanos }: google.protobuf.ITimestamp): Date {
  return new Date(Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1_000_000);
}
