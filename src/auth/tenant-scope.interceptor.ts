import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { inScope } from '../database/request-scope';

/**
 * Everything that a handler does is done in the scope of its request: Postgres shows it the rows of the request's tenant,
 * of none on a public route, and of all to the operator.
 */
@Injectable()
export class TenantScopeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { tenantId, actor, user } = context.switchToHttp().getRequest<FastifyRequest>();
    const isAcrossTenants = actor?.kind === 'operator';
    const scope = { tenantId, isAcrossTenants, actor: actor && JSON.stringify(actor), user };
    return inScope(scope, () => next.handle());
  }
}
