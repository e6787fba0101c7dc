import { CanActivate, ExecutionContext, Injectable, NotFoundException, OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AuthGuard } from '../auth/auth.guard';
import { RouteGroupsGuard } from '../http/route-groups.guard';
import { isPage } from '../http/web-sockets';
import { contextOf, type RouteHandler, routesOf } from '../patches/nestjs/routes';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the guards have let the request through. */
    isAdmitted?: boolean;
    /** Why they have not, of a page that learns of it later. */
    refusal?: Error;
  }
}

/**
 * Decides about each request by its headers, before its body is read: the body of a caller without access costs nothing.
 * A route that isn't in the table is decided about where Nest runs its guards, after the body: late, but never not at all.
 */
@Injectable()
export class Admission implements CanActivate, OnModuleInit {
  /** Handlers by method and pattern, as Fastify names routes. */
  private readonly routes = new Map<string, RouteHandler>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly groups: RouteGroupsGuard,
    private readonly auth: AuthGuard,
  ) {}

  onModuleInit(): void {
    for (const { metatype } of this.discovery.getControllers()) {
      if (!metatype) continue;
      for (const [route, handler] of routesOf(metatype as Type, this.scanner)) this.routes.set(route, handler);
    }
  }

  /** Installs the hook; called after the hooks whose headers a refusal must carry (CORS). */
  install(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', async (request, reply) => {
      if (request.is404) throw new NotFoundException();
      const route = this.routeOf(request);
      if (!route) return;
      const admitted = this.admit(contextOf(request, reply, route));
      // A refused page learns of it on its socket, which can be opened where Nest runs its guards.
      await (isPage(request) ? admitted.catch((error: Error) => (request.refusal = error)) : admitted);
    });
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { isAdmitted, refusal } = context.switchToHttp().getRequest<FastifyRequest>();
    if (refusal) throw refusal;
    if (!isAdmitted) await this.admit(context);
    return true;
  }

  private routeOf({ method, routeOptions }: FastifyRequest): RouteHandler | undefined {
    return this.routes.get(`${method === 'HEAD' ? 'GET' : method} ${routeOptions.url}`);
  }

  /** @throws {ApiError} what the first guard that refuses says */
  private async admit(context: ExecutionContext): Promise<void> {
    // A disabled route looks as if it didn't exist, with a key or without.
    this.groups.canActivate(context);
    await this.auth.canActivate(context);
    context.switchToHttp().getRequest<FastifyRequest>().isAdmitted = true;
  }
}
