import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppConfig } from '../config/config';
import { authErrors } from './auth.errors';
import type { Access } from './tenant';

/** The JavaScript SDK retries after a 429 for about fifteen seconds, so no caller has to wait longer. */
const WINDOW_MS = 10_000;
/** LangSmith's clients retry after a 429 for about three seconds, and then lose the traces. */
const TRACE_WINDOW_MS = 1_000;
/** Maximum of counted callers; beyond it, the counters of the least recent ones are dropped. */
const MAX_CALLERS = 10_000;

type Count = ReturnType<FastifyInstance['createRateLimit']>;

/**
 * Rate limits of each key, or each user of the custom auth. Each replica counts for itself, without a round trip, so several
 * replicas together allow a multiple.
 */
@Injectable()
export class RateLimiter {
  private readonly counts = new Map<'api' | 'traces', Count>();

  constructor(
    private readonly config: AppConfig,
    private readonly host: HttpAdapterHost,
  ) {}

  /**
   * Counts a request whose caller the guard has found out, and reports the state of the limit to the client.
   * @throws {ApiError} 429 with Retry-After
   */
  async take(request: FastifyRequest, reply: FastifyReply, access: Access | undefined): Promise<void> {
    const kind = request.actor?.kind;
    if (kind !== 'key' && kind !== 'user') return;
    // Counted separately, since trace clients send bursts and lose refused uploads.
    const count = this.countOf(access === 'traces' || access === 'trace-upload' ? 'traces' : 'api');
    if (!count) return;
    const counted = await count(request);
    if (counted.isAllowed) return;
    const { max, remaining, ttlInSeconds, isExceeded } = counted;
    void reply.headers({
      'x-ratelimit-limit': max,
      'x-ratelimit-remaining': remaining,
      'x-ratelimit-reset': ttlInSeconds,
    });
    if (isExceeded) throw authErrors.tooManyRequests(ttlInSeconds);
  }

  private countOf(bucket: 'api' | 'traces'): Count | undefined {
    const perSecond = this.config.auth.rateLimits[bucket];
    if (perSecond === undefined) return undefined;
    const known = this.counts.get(bucket);
    if (known) return known;
    const windowMs = bucket === 'api' ? WINDOW_MS : TRACE_WINDOW_MS;
    const count = this.host.httpAdapter.getInstance<FastifyInstance>().createRateLimit({
      max: Math.max(1, Math.floor((perSecond * windowMs) / 1000)),
      timeWindow: windowMs,
      keyGenerator: ({ tenantId, actor }) => `${tenantId} ${actor?.kind} ${actor?.id}`,
    });
    this.counts.set(bucket, count);
    return count;
  }
}

/** Options of the plugin: requests are only counted once the caller is known. */
export const RATE_LIMIT_OPTIONS = { global: false, cache: MAX_CALLERS };
