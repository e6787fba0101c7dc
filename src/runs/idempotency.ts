import { createHash } from 'node:crypto';
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { headerOf } from '../http/header';
import { runErrors } from './run.errors';

const MAX_KEY_LENGTH = 255;

/** A client's request to create a run only once, however often the request is sent. */
export interface IdempotencyRequest {
  key: string;
  /** Path and owner of the request: the same key on another thread, or of another user, is a different key. */
  route: string;
  /** SHA-256 of the body: the same key with another body is a mistake. */
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
  return {
    key: checkIdempotencyKey(key),
    route: [request.url.split('?', 1)[0], ...(request.user ? [request.user.identity] : [])].join(' '),
    fingerprint: fingerprintOf(JSON.stringify(request.body ?? null)),
    onReplay: () => void http.getResponse<FastifyReply>().header('Idempotency-Replayed', 'true'),
  };
}

/** Fingerprint of what is the same when a request is repeated. */
export function fingerprintOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** @throws {ApiError} 422 for an empty or overlong key */
export function checkIdempotencyKey(key: string): string {
  if (key.length === 0 || key.length > MAX_KEY_LENGTH) throw runErrors.idempotencyKeyInvalid(MAX_KEY_LENGTH);
  return key;
}

export const Idempotency = createParamDecorator((_: unknown, context: ExecutionContext) => idempotencyOf(context));
