import { createParamDecorator, ExecutionContext, Injectable, PipeTransform } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type TenantId, tenantOf } from '../auth/tenant';
import { HttpSettings } from '../config/http-settings';
import { type IdempotencyRequest, idempotencyOf } from './idempotency';

/** Where a request to create runs comes from: what the HTTP request says beside its body. */
export interface RunOrigin {
  tenantId: TenantId;
  /** Headers that the run's graph finds in its `configurable`: those that `http.configurable_headers` selects. */
  headers: Record<string, string>;
  idempotency?: IdempotencyRequest | undefined;
}

type Unselected = Omit<RunOrigin, 'headers'> & { headers: FastifyRequest['headers'] };

@Injectable()
class SelectedHeaders implements PipeTransform<Unselected, RunOrigin> {
  constructor(private readonly settings: HttpSettings) {}

  transform(origin: Unselected): RunOrigin {
    return { ...origin, headers: this.settings.configurableHeaders.of(origin.headers) };
  }
}

const unselectedOrigin = createParamDecorator((_: unknown, context: ExecutionContext): Unselected => {
  const { headers } = context.switchToHttp().getRequest<FastifyRequest>();
  return { tenantId: tenantOf(context), idempotency: idempotencyOf(context), headers };
});

/**
 * The {@link RunOrigin} of a route that creates runs.
 * @throws {ApiError} 422 for an empty or overlong `Idempotency-Key`
 */
export const Origin = (): ParameterDecorator => unselectedOrigin(SelectedHeaders);
