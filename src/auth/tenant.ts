import { applyDecorators, createParamDecorator, ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { AuthUser } from '../database/request-scope';
import type { TenantId } from '../database/tenant-id';
import type { Actor } from './actor';

export type { TenantId };

declare module 'fastify' {
  interface FastifyRequest {
    tenantId?: TenantId;
    /** The caller, as identified by the guard. */
    actor?: Actor;
    /** The user that the custom auth returned, if any. */
    user?: AuthUser;
    /** End of the caller's access by an OAuth token, in milliseconds since 1970. */
    accessEndsAt?: number;
  }
}

/** The tenant of the request, as the guard resolved it. */
export function tenantOf(context: ExecutionContext): TenantId {
  const { tenantId } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!tenantId) throw new Error('A public route asked for a tenant');
  return tenantId;
}

export const Tenant = createParamDecorator((_: unknown, context: ExecutionContext) => tenantOf(context));

/** The context of the guard's decision, for later decisions of the same kind. */
export const AskedContext = createParamDecorator((_: unknown, context: ExecutionContext) => context);

export const ACCESS = Symbol('access');
/**
 * `public`: no key. `tenant-header`: X-Tenant-Id is required beside the key. `traces`: a tenant's key, counted apart.
 * `trace-upload`: the same, and the key of a run for its own trace. `operator`: the admin key, and none of a tenant. `card`: a
 * tenant's key, unless the operator lets any caller read the default tenant's.
 */
export type Access = 'public' | 'tenant-header' | 'traces' | 'trace-upload' | 'operator' | 'card';

export const Public = (): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(ACCESS, 'public' satisfies Access), ApiSecurity(NO_AUTH_SCHEME));
export const TenantHeaderRequired = (): MethodDecorator & ClassDecorator =>
  SetMetadata(ACCESS, 'tenant-header' satisfies Access);
/** Routes of trace clients, which send in bursts. */
export const TraceClients = (): MethodDecorator & ClassDecorator => SetMetadata(ACCESS, 'traces' satisfies Access);
/** The few routes for the workers' own key, and for the key of a run. */
export const TraceUpload = (): MethodDecorator & ClassDecorator => SetMetadata(ACCESS, 'trace-upload' satisfies Access);
/** Marks routes of agent cards, which the operator may let any caller read. */
export const AgentCardRoute = (): MethodDecorator & ClassDecorator => SetMetadata(ACCESS, 'card' satisfies Access);
export const OperatorOnly = (): MethodDecorator & ClassDecorator => SetMetadata(ACCESS, 'operator' satisfies Access);

export const CUSTOM_AUTH = Symbol('custom auth');
/**
 * The custom auth of langgraph.json, if there is one, admits callers here, and its handlers decide what they see: the
 * services of such routes ask the Authorizer for everything they do. All other routes take API keys only.
 */
export const CustomAuthDecides = (): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(CUSTOM_AUTH, true), ApiSecurity(USERS_SCHEME));

/** Security scheme of such routes in the description of the API; langgraph.json may replace it. */
export const USERS_SCHEME = 'custom_auth';

/** Security scheme of public routes in the description of the API. */
export const NO_AUTH_SCHEME = 'nobody';
