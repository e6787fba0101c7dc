import { createHash } from 'node:crypto';
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import { headerOf } from '../http/header';
import { runErrors } from './run.errors';

const MAX_KEY_LENGTH = 255;

/** A client's request to create a run only once, however often the request is sent. */
export interface IdempotencyRequest {
  key: string;
  /** Path and owner of the request: the same key on another thread, or of another user, is a different key. */
  route: string;
  /** Hash of the body: the same key with another body is a mistake. */
  fingerprint: Buffer;
  /** Called if an earlier request created the run. */
  onReplay: () => void;
}

/**
 * The `Idempotency-Key` header, if there is one. A repeated request is answered with `Idempotency-Replayed: true`.
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 * @throws {ApiError} 422 for an empty or overlong key
 */
export function idempotencyOf(context: ExecutionContext): IdempotencyRequest | undefined {
  const http = context.switchToHttp();
  const request = http.getRequest<FastifyRequest>();
  const key = headerOf(request, 'idempotency-key');
  if (key === undefined) return undefined;
  if (key.length === 0 || key.length > MAX_KEY_LENGTH) throw runErrors.idempotencyKeyInvalid(MAX_KEY_LENGTH);
  return {
    key,
    route: [request.url.split('?', 1)[0], ...(request.user ? [request.user.identity] : [])].join(' '),
    fingerprint: createHash('sha256')
      .update(JSON.stringify(request.body ?? null))
      .digest(),
    onReplay: () => void http.getResponse<FastifyReply>().header('Idempotency-Replayed', 'true'),
  };
}

export const Idempotency = createParamDecorator((_: unknown, context: ExecutionContext) => idempotencyOf(context));

/**
 * Takes the key for the run that the caller inserts in the same transaction; a second request waits here for the first one's
 * end. Resolves to the id of the run that an earlier request made, or to undefined when this one is the first.
 * @throws {ApiError} 409 when the key was used with another body
 */
export async function takeIdempotencyKey(
  manager: EntityManager,
  tenantId: TenantId,
  request: IdempotencyRequest,
  runId: string,
): Promise<string | undefined> {
  const taken: unknown[] = await manager.query(
    `INSERT INTO idempotency_keys (tenant_id, route, key, fingerprint, run_id) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT DO NOTHING RETURNING 1`,
    [tenantId, request.route, request.key, request.fingerprint, runId],
  );
  if (taken.length > 0) return undefined;
  const [earlier]: { fingerprint: Buffer; run_id: string }[] = await manager.query(
    `SELECT fingerprint, run_id FROM idempotency_keys WHERE tenant_id = $1 AND route = $2 AND key = $3`,
    [tenantId, request.route, request.key],
  );
  if (!earlier?.fingerprint.equals(request.fingerprint)) throw runErrors.idempotencyKeyReused();
  return earlier.run_id;
}
