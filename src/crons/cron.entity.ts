import { Column, Entity, PrimaryColumn } from 'typeorm';
import { StoredJson } from '../database/stored-column';
import type { JsonObject } from '../database/json';
import type { AuthUser } from '../database/request-scope';

/** Rule for missed ticks: run the latest, all, or none. */
export const CATCHUP_RULES = ['latest', 'all', 'skip'] as const;
export type CatchupRule = (typeof CATCHUP_RULES)[number];
/** Rule for a tick while an earlier run of the cron is in flight. */
export const OVERLAP_RULES = ['allow', 'skip'] as const;
export type OverlapRule = (typeof OVERLAP_RULES)[number];
/** Reason why a cron can't be resumed as it is. */
export type StopCause = 'thread' | 'assistant' | 'end_time';

export interface CronFailure {
  run_id: string | null;
  scheduled_at: string;
  failed_at: string;
  error: string;
}

@Entity('crons')
export class CronEntity {
  @PrimaryColumn({ name: 'cron_id', type: 'uuid' })
  cronId!: string;

  @Column({ name: 'tenant_id', type: 'uuid' })
  tenantId!: string;

  @Column({ name: 'assistant_id', type: 'uuid' })
  assistantId!: string;

  /** Absent if each run gets a new thread. */
  @Column({ name: 'thread_id', type: 'uuid', nullable: true })
  threadId!: string | null;

  /** The user of the custom auth who made it; empty without one. */
  @Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** The user of the custom auth for whom its runs are made; null for the tenant. */
  @StoredJson('cron', 'auth_user', { name: 'auth_user', nullable: true })
  authUser!: AuthUser | null;

  @Column({ type: 'text' })
  schedule!: string;

  /** IANA name; UTC when absent. */
  @Column({ type: 'text', nullable: true })
  timezone!: string | null;

  @Column({ name: 'end_time', type: 'timestamptz', nullable: true })
  endTime!: Date | null;

  /** The body that it was made from, with the webhook masked. */
  @StoredJson('cron', 'payload')
  payload!: JsonObject;

  @StoredJson('cron', 'metadata')
  metadata!: JsonObject;

  /** Sealed: the URL may carry a token. */
  @Column({ type: 'text', nullable: true })
  webhook!: string | null;

  @Column({ name: 'on_run_completed', type: 'text', nullable: true })
  onRunCompleted!: 'delete' | 'keep' | null;

  @Column({ type: 'text' })
  catchup!: CatchupRule;

  @Column({ type: 'text' })
  overlap!: OverlapRule;

  @Column({ type: 'boolean' })
  enabled!: boolean;

  /** Why it isn't enabled, in words. */
  @Column({ name: 'status_reason', type: 'text', nullable: true })
  statusReason!: string | null;

  @Column({ name: 'stopped_by', type: 'text', nullable: true })
  stoppedBy!: StopCause | null;

  /** Next tick, for sorting; the API computes what it shows for each request. */
  @Column({ name: 'next_run_at', type: 'timestamptz', nullable: true })
  nextRunAt!: Date | null;

  /** Ticks up to here have been dealt with. */
  @Column({ name: 'last_tick_at', type: 'timestamptz' })
  lastTickAt!: Date;

  @Column({ name: 'last_fire_id', type: 'uuid', nullable: true })
  lastFireId!: string | null;

  @Column({ name: 'consecutive_failures', type: 'integer' })
  consecutiveFailures!: number;

  @Column({ name: 'last_failure', type: 'jsonb', nullable: true })
  lastFailure!: CronFailure | null;

  /** Increases with each change that the Schedule has to follow. */
  @Column({ type: 'integer' })
  revision!: number;

  /** The revision that the Schedule shows. */
  @Column({ name: 'synced_revision', type: 'integer' })
  syncedRevision!: number;

  /** Hidden from all callers; the row is deleted after the Schedule. */
  @Column({ name: 'deleted_at', type: 'timestamptz', nullable: true })
  deletedAt!: Date | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt!: Date;
}
