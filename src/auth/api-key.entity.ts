import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('api_keys')
export class ApiKeyEntity {
  @PrimaryColumn({ name: 'api_key_id', type: 'uuid' })
  apiKeyId!: string;

  @Column({ name: 'tenant_id', type: 'uuid' })
  tenantId!: string;

  @Column({ type: 'text' })
  name!: string;

  /** HMAC-SHA-256 of the key with the deployment's secret: a leaked table gives no access. */
  @Column({ type: 'bytea' })
  hash!: Buffer;

  @Column({ name: 'created_at', type: 'timestamptz', insert: false })
  createdAt!: Date;

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt!: Date | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt!: Date | null;

  /** Enough of the key to distinguish it from others. */
  @Column({ type: 'text' })
  hint!: string;

  /** Exact to about a minute. */
  @Column({ name: 'last_used_at', type: 'timestamptz', nullable: true })
  lastUsedAt!: Date | null;
}
