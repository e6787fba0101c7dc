import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Written by triggers alone, with the change that it records. */
@Entity('audit_log')
export class AuditRecordEntity {
  @PrimaryColumn({ name: 'audit_id', type: 'bigint' })
  auditId!: string;

  @Column({ type: 'timestamptz' })
  at!: Date;

  /** Null for a refused login, whose tenant isn't known. */
  @Column({ name: 'tenant_id', type: 'uuid', nullable: true })
  tenantId!: string | null;

  @Column({ name: 'actor_kind', type: 'text' })
  actorKind!: string;

  @Column({ name: 'actor_id', type: 'text', nullable: true })
  actorId!: string | null;

  @Column({ type: 'text', nullable: true })
  address!: string | null;

  @Column({ type: 'text' })
  action!: string;

  @Column({ type: 'text' })
  resource!: string;

  @Column({ name: 'resource_id', type: 'uuid', nullable: true })
  resourceId!: string | null;

  /** Stored namespace and key of an item of the store, which has no id. */
  @Column({ type: 'text', array: true, nullable: true })
  item!: [path: string, key: string] | null;

  /** Names of the columns that an update changed. */
  @Column({ type: 'text', array: true, nullable: true })
  changed!: string[] | null;

  /** Code of the error that a refused login was answered with. */
  @Column({ type: 'text', nullable: true })
  reason!: string | null;
}
