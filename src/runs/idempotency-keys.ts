import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import { deriveKey } from '../crypto/derive-key';
import type { IdempotencyRequest } from './idempotency';
import { runErrors } from './run.errors';

/** The idempotency keys that requests have used, each with the run or export that the first one created. */
@Injectable()
export class IdempotencyKeys {
  private readonly fingerprintKey: Buffer;

  constructor(config: AppConfig) {
    this.fingerprintKey = deriveKey(config.secrets.key, 'gantry idempotency fingerprint');
  }

  /**
   * Takes the key for what the caller inserts in the same transaction; a second request waits here for the first one's end.
   * Resolves to the id that an earlier request inserted, or to undefined when this one is the first.
   * @throws {ApiError} 409 when the key was used with another body
   */
  async take(
    manager: EntityManager,
    tenantId: TenantId,
    request: IdempotencyRequest,
    createdId: string,
  ): Promise<string | undefined> {
    const fingerprint = this.keyed(tenantId, request);
    const taken: unknown[] = await manager.query(
      `INSERT INTO idempotency_keys (tenant_id, route, key, fingerprint, run_id) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT DO NOTHING RETURNING 1`,
      [tenantId, request.route, request.key, fingerprint, createdId],
    );
    if (taken.length > 0) return undefined;
    const [earlier]: { fingerprint: Buffer; run_id: string }[] = await manager.query(
      `SELECT fingerprint, run_id FROM idempotency_keys WHERE tenant_id = $1 AND route = $2 AND key = $3`,
      [tenantId, request.route, request.key],
    );
    // Earlier releases stored the plain hash; their rows are kept for a day.
    const isSameBody = [fingerprint, request.fingerprint].some((each) => earlier?.fingerprint.equals(each));
    if (!earlier || !isSameBody) throw runErrors.idempotencyKeyReused();
    return earlier.run_id;
  }

  /** Form of a fingerprint in the table: a plain hash would let its readers test guesses of a body that is encrypted elsewhere. */
  private keyed(tenantId: TenantId, { route, key, fingerprint }: IdempotencyRequest): Buffer {
    return createHmac('sha256', this.fingerprintKey).update(`${tenantId} ${route} ${key}`).update(fingerprint).digest();
  }
}
