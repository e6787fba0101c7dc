import { ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { inScope, type RequestScope, type SearchScope } from '../database/request-scope';
import '../http/search-route';
import { whenClosed } from '../http/when-closed';
import { DirectInterceptor } from '../patches/nestjs/direct-interceptors';

/**
 * Everything that a handler does is done in the scope of its request: Postgres shows it the rows of the request's tenant,
 * of none on a public route, and of all to the operator.
 */
@Injectable()
export class TenantScopeInterceptor extends DirectInterceptor {
  around<T>(context: ExecutionContext, next: () => T): T {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const search = request.routeOptions.config.isSearch ? searchOf(http.getResponse<FastifyReply>()) : undefined;
    return inScope({ ...scopeOf(request), search }, next);
  }
}

function searchOf({ raw }: FastifyReply): SearchScope {
  return {
    whenGone: (callback) =>
      whenClosed(raw, () => {
        if (!raw.writableFinished) callback();
      }),
  };
}

/** The caller as identified by the guard. */
export function scopeOf({ tenantId, actor, user, headers }: FastifyRequest): RequestScope {
  const { 'x-encryption-context': context } = headers;
  return {
    tenantId,
    isAcrossTenants: actor?.kind === 'operator',
    actor: actor && JSON.stringify(actor),
    user,
    encryptionContext: Array.isArray(context) ? context[0] : context,
  };
}
