import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A tracing project, `session` on the wire. */
@Entity('trace_projects')
export class ProjectEntity {
  @PrimaryColumn({ name: 'tenant_id', type: 'uuid' })
  tenantId!: string;

  @PrimaryColumn({ name: 'project_id', type: 'uuid' })
  projectId!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'text', nullable: true })
  description!: string | null;

  @Column({ type: 'jsonb', nullable: true })
  extra!: Record<string, unknown> | null;

  @Column({ name: 'start_time', type: 'timestamptz' })
  startTime!: Date;

  @Column({ name: 'end_time', type: 'timestamptz', nullable: true })
  endTime!: Date | null;

  @Column({ name: 'default_dataset_id', type: 'uuid', nullable: true })
  defaultDatasetId!: string | null;

  @Column({ name: 'reference_dataset_id', type: 'uuid', nullable: true })
  referenceDatasetId!: string | null;

  @Column({ name: 'trace_tier', type: 'text', nullable: true })
  traceTier!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', insert: false, update: false })
  createdAt!: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt!: Date;
}
