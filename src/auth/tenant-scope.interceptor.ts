import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { inScope, type RequestScope } from '../database/request-scope';

/**
 * Everything that a handler does is done in the scope of its request: Postgres shows it the rows of the request's tenant,
 * of none on a public route, and of all to the operator.
 */
@Injectable()
export class TenantScopeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return inScope(scopeOf(context.switchToHttp().getRequest<FastifyRequest>()), () => next.handle());
  }
}

/** What the guard found out about who asks. */
export function scopeOf({ tenantId, actor, user }: FastifyRequest): RequestScope {
  return { tenantId, isAcrossTenants: actor?.kind === 'operator', actor: actor && JSON.stringify(actor), user };
}
