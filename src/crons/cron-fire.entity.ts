import { Column, Entity, PrimaryColumn } from 'typeorm';

export type FireTrigger = 'schedule' | 'manual' | 'backfill';

/**
 * `pending`: its run isn't created yet. `started`: it was created. Then how the run ended. `failed`: the run was refused. `skipped`: no run was due.
 */
export const FIRE_STATUSES = [
  'pending',
  'started',
  'success',
  'error',
  'timeout',
  'interrupted',
  'failed',
  'skipped',
] as const;
export type FireStatus = (typeof FIRE_STATUSES)[number];

/** A tick of a cron, or a run on request: one row, one run. */
@Entity('cron_fires')
export class CronFireEntity {
  @PrimaryColumn({ name: 'fire_id', type: 'uuid' })
  fireId!: string;

  @Column({ name: 'tenant_id', type: 'uuid' })
  tenantId!: string;

  @Column({ name: 'cron_id', type: 'uuid' })
  cronId!: string;

  /** The tick's own time; the moment of the request for a run that was asked for by hand. */
  @Column({ name: 'scheduled_at', type: 'timestamptz' })
  scheduledAt!: Date;

  @Column({ type: 'text' })
  trigger!: FireTrigger;

  @Column({ type: 'text' })
  status!: FireStatus;

  /** Id of the run that it makes; chosen before the run exists. */
  @Column({ name: 'run_id', type: 'uuid' })
  runId!: string;

  @Column({ name: 'thread_id', type: 'uuid', nullable: true })
  threadId!: string | null;

  @Column({ type: 'text', nullable: true })
  error!: string | null;

  /** Number of missed ticks before this one that don't run. */
  @Column({ type: 'integer' })
  missed!: number;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'fired_at', type: 'timestamptz', nullable: true })
  firedAt!: Date | null;

  @Column({ name: 'ended_at', type: 'timestamptz', nullable: true })
  endedAt!: Date | null;
}
