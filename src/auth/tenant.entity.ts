import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Entitlement } from './entitlements';

@Entity('tenants')
export class TenantEntity {
  @PrimaryColumn({ name: 'tenant_id', type: 'uuid' })
  tenantId!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ name: 'created_at', type: 'timestamptz', insert: false })
  createdAt!: Date;

  @Column({ name: 'disabled_entitlements', type: 'text', array: true })
  disabledEntitlements!: Entitlement[];
}
