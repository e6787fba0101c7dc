import { Column, Entity, PrimaryColumn } from 'typeorm';
import { StoredText } from '../database/stored-column';

/** How an attempt ended, for people and for filters. */
export const ATTEMPT_OUTCOMES = [
  'delivered',
  'client_error',
  'server_error',
  'redirect_refused',
  'gone',
  'timeout',
  'connection_error',
  'tls_error',
  'dns_error',
  'blocked_address',
  'refused_url',
  'disabled',
  'worker_lost',
] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

@Entity('webhook_attempts')
export class AttemptEntity {
  @PrimaryColumn({ name: 'attempt_id', type: 'uuid' })
  attemptId!: string;

  @Column({ name: 'tenant_id', type: 'uuid' })
  tenantId!: string;

  @Column({ name: 'delivery_id', type: 'uuid' })
  deliveryId!: string;

  /** 1 for the first. Two rows share a number when a worker died during it. */
  @Column({ type: 'integer' })
  attempt!: number;

  @Column({ name: 'planned_at', type: 'timestamptz' })
  plannedAt!: Date;

  @Column({ name: 'started_at', type: 'timestamptz' })
  startedAt!: Date;

  @Column({ name: 'duration_ms', type: 'integer', nullable: true })
  durationMs!: number | null;

  /** Null while it is in flight. */
  @Column({ type: 'text', nullable: true })
  outcome!: AttemptOutcome | null;

  @Column({ name: 'response_code', type: 'integer', nullable: true })
  responseCode!: number | null;

  @StoredText('run', 'response', { name: 'response_excerpt', nullable: true })
  responseExcerpt!: string | null;

  @Column({ type: 'text', nullable: true })
  error!: string | null;

  /** Configured headers masked. */
  @Column({ name: 'request_headers', type: 'jsonb' })
  requestHeaders!: Record<string, string>;

  @Column({ name: 'signed_with', type: 'text', array: true })
  signedWith!: string[];

  @Column({ name: 'next_attempt_at', type: 'timestamptz', nullable: true })
  nextAttemptAt!: Date | null;
}
