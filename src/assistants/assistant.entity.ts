import { Column, Entity, PrimaryColumn } from 'typeorm';
import { StoredJson } from '../database/stored-column';
import type { JsonObject } from '../database/json';

/** Fields of an assistant at a version. */
abstract class AssistantAtVersion {
  @PrimaryColumn({ name: 'tenant_id', type: 'uuid' })
  tenantId!: string;

  @PrimaryColumn({ name: 'assistant_id', type: 'uuid' })
  assistantId!: string;

  @Column({ name: 'graph_id', type: 'text' })
  graphId!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'text', nullable: true })
  description!: string | null;

  @StoredJson('assistant', 'config')
  config!: JsonObject;

  @StoredJson('assistant', 'context')
  context!: JsonObject;

  @StoredJson('assistant', 'metadata')
  metadata!: JsonObject;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}

@Entity('assistants')
export class AssistantEntity extends AssistantAtVersion {
  /** Its current version. */
  @Column({ type: 'integer' })
  version!: number;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt!: Date;
}

@Entity('assistant_versions')
export class AssistantVersionEntity extends AssistantAtVersion {
  @PrimaryColumn({ type: 'integer' })
  version!: number;
}
