import { Column, Entity, PrimaryColumn } from 'typeorm';
import { StoredJson } from '../database/stored-column';
import type { JsonObject } from '../database/json';
import type { TtlStrategy } from '../config/thread-ttl';

export type ThreadStatus = 'idle' | 'busy' | 'interrupted' | 'error';

@Entity('threads')
export class ThreadEntity {
  @PrimaryColumn({ name: 'tenant_id', type: 'uuid' })
  tenantId!: string;

  /** Unique within the tenant: another one may have a thread with the same id. */
  @PrimaryColumn({ name: 'thread_id', type: 'uuid' })
  threadId!: string;

  @Column({ type: 'text' })
  status!: ThreadStatus;

  @StoredJson('thread', 'metadata')
  metadata!: JsonObject;

  @StoredJson('thread', 'config')
  config!: JsonObject;

  @StoredJson('thread', 'values', { nullable: true })
  values!: unknown;

  /** Task id → the interrupts that it waits at. */
  @StoredJson('thread', 'interrupts')
  interrupts!: Record<string, unknown[]>;

  @StoredJson('thread', 'error', { nullable: true })
  error!: JsonObject | null;

  /** Created for one stateless run: hidden from all thread routes, and deleted at this time. */
  @Column({ type: 'boolean' })
  temporary!: boolean;

  @Column({ name: 'delete_after', type: 'timestamptz', nullable: true })
  deleteAfter!: Date | null;

  /** Action after `ttlMinutes` without a change; both are null for a thread that is kept. */
  @Column({ name: 'ttl_strategy', type: 'text', nullable: true })
  ttlStrategy!: TtlStrategy | null;

  @Column({ name: 'ttl_minutes', type: 'double precision', nullable: true })
  ttlMinutes!: number | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt!: Date;

  @Column({ name: 'state_updated_at', type: 'timestamptz', nullable: true })
  stateUpdatedAt!: Date | null;
}
