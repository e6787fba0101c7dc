import { Column, Entity, PrimaryColumn } from 'typeorm';
import { StoredJson, StoredText } from '../database/stored-column';
import type { AuthUser } from '../database/request-scope';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
export const DELIVERY_KINDS = ['run', 'test', 'export', 'a2a'] as const;
export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

@Entity('webhook_deliveries')
export class DeliveryEntity {
  @PrimaryColumn({ name: 'delivery_id', type: 'uuid' })
  deliveryId!: string;

  @Column({ name: 'tenant_id', type: 'uuid' })
  tenantId!: string;

  /** The message's id: the same for every attempt and for every replay. */
  @Column({ name: 'webhook_id', type: 'text' })
  webhookId!: string;

  @Column({ type: 'text' })
  kind!: DeliveryKind;

  @Column({ name: 'run_id', type: 'uuid', nullable: true })
  runId!: string | null;

  @Column({ name: 'thread_id', type: 'uuid', nullable: true })
  threadId!: string | null;

  @Column({ name: 'export_id', type: 'uuid', nullable: true })
  exportId!: string | null;

  @Column({ name: 'replay_of', type: 'uuid', nullable: true })
  replayOf!: string | null;

  @Column({ name: 'masked_url', type: 'text' })
  maskedUrl!: string;

  @Column({ name: 'sealed_url', type: 'text' })
  sealedUrl!: string;

  /** Headers of this delivery alone, as sealed JSON: they carry the receiver's credentials. */
  @Column({ name: 'sealed_headers', type: 'text', nullable: true, select: false })
  sealedHeaders!: string | null;

  /** User on whose behalf a relative URL is called; null for the tenant. */
  @StoredJson('run', 'auth_user', { name: 'auth_user', nullable: true, select: false })
  authUser!: AuthUser | null;

  @Column({ type: 'text' })
  host!: string;

  /** The body to send; as large as a run's values, therefore read only for an attempt. */
  @StoredText('run', 'webhook', { select: false })
  payload!: string;

  @Column({ name: 'payload_bytes', type: 'integer' })
  payloadBytes!: number;

  @Column({ name: 'payload_sha256', type: 'text' })
  payloadSha256!: string;

  @Column({ type: 'text' })
  status!: DeliveryStatus;

  @Column({ name: 'max_attempts', type: 'integer' })
  maxAttempts!: number;

  @Column({ name: 'attempt_count', type: 'integer' })
  attemptCount!: number;

  @Column({ name: 'last_outcome', type: 'text', nullable: true })
  lastOutcome!: string | null;

  @Column({ name: 'last_response_code', type: 'integer', nullable: true })
  lastResponseCode!: number | null;

  @Column({ name: 'last_error', type: 'text', nullable: true })
  lastError!: string | null;

  @Column({ name: 'next_attempt_at', type: 'timestamptz', nullable: true })
  nextAttemptAt!: Date | null;

  @Column({ name: 'created_at', type: 'timestamptz', insert: false })
  createdAt!: Date;

  @Column({ name: 'finished_at', type: 'timestamptz', nullable: true })
  finishedAt!: Date | null;

  /** When the sweep should make sure that a workflow is running for it. */
  @Column({ name: 'check_after', type: 'timestamptz' })
  checkAfter!: Date;
}
