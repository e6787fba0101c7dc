import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { DestinationConfig, DestinationType } from './destinations.schemas';

@Entity('export_destinations')
export class DestinationEntity {
  @PrimaryColumn({ name: 'tenant_id', type: 'uuid' })
  tenantId!: string;

  @PrimaryColumn({ name: 'destination_id', type: 'uuid' })
  destinationId!: string;

  @Column({ name: 'destination_type', type: 'text' })
  destinationType!: DestinationType;

  @Column({ name: 'display_name', type: 'text' })
  displayName!: string;

  @Column({ type: 'jsonb' })
  config!: DestinationConfig;

  /** Sealed; null means the environment's credentials. */
  @Column({ type: 'text', nullable: true })
  credentials!: string | null;

  /** Names of the given credentials: the only thing about them that is ever shown. */
  @Column({ name: 'credentials_keys', type: 'text', array: true })
  credentialsKeys!: string[];

  @Column({ name: 'created_at', type: 'timestamptz', insert: false, update: false })
  createdAt!: Date;

  @Column({ name: 'updated_at', type: 'timestamptz', insert: false })
  updatedAt!: Date;
}
