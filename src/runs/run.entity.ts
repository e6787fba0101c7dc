import { Column, Entity, PrimaryColumn } from 'typeorm';
import { StoredJson } from '../database/stored-column';
import type { JsonObject } from '../database/json';
import type { RunStatus } from '../database/run-status';
import type { RunError, RunKwargs } from '../graphs/host/protocol';

export type CancelAction = 'interrupt' | 'rollback';
/** Why a run was cancelled; the API shows it after the run's end. */
export type CancelReason =
  | 'requested'
  | 'taken: its input was absorbed by another run'
  | 'multitask: another run took its place'
  | 'disconnected'
  | 'assistant deleted';
export type MultitaskStrategy = 'reject' | 'interrupt' | 'rollback' | 'enqueue';

@Entity('runs')
export class RunEntity {
  @PrimaryColumn({ name: 'run_id', type: 'uuid' })
  runId!: string;

  @Column({ name: 'tenant_id', type: 'uuid' })
  tenantId!: string;

  @Column({ name: 'thread_id', type: 'uuid' })
  threadId!: string;

  @Column({ name: 'assistant_id', type: 'uuid' })
  assistantId!: string;

  @Column({ name: 'graph_id', type: 'text' })
  graphId!: string;

  @Column({ type: 'text' })
  status!: RunStatus;

  /** The fencing token: how many times a worker has claimed the run. */
  @Column({ type: 'integer' })
  attempt!: number;

  /** Task queue of the process that claimed it last, for questions about the run. */
  @Column({ name: 'task_queue', type: 'text', nullable: true })
  taskQueue!: string | null;

  /** The requested end of the run, which the worker that owns it carries out. */
  @Column({ name: 'cancel_action', type: 'text', nullable: true })
  cancelAction!: CancelAction | null;

  @Column({ name: 'cancel_reason', type: 'text', nullable: true })
  cancelReason!: string | null;

  @StoredJson('run', 'metadata')
  metadata!: JsonObject;

  @StoredJson('run', 'kwargs')
  kwargs!: RunKwargs;

  @Column({ name: 'multitask_strategy', type: 'text' })
  multitaskStrategy!: MultitaskStrategy;

  @StoredJson('run', 'error', { nullable: true })
  error!: RunError | null;

  /** The webhook's URL, sealed: it may carry a token. */
  @Column({ type: 'text', nullable: true })
  webhook!: string | null;

  /** Time before which the run doesn't begin. */
  @Column({ name: 'scheduled_at', type: 'timestamptz' })
  scheduledAt!: Date;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt!: Date;

  @Column({ name: 'started_at', type: 'timestamptz', nullable: true })
  startedAt!: Date | null;

  @Column({ name: 'ended_at', type: 'timestamptz', nullable: true })
  endedAt!: Date | null;
}
