import {
  CanActivate,
  ExecutionContext,
  Injectable,
  NotFoundException,
  OnModuleInit,
  RequestMethod,
} from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AuthGuard } from '../auth/auth.guard';
import { RouteGroupsGuard } from '../http/route-groups.guard';
import { isPage } from '../http/web-sockets';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the guards have let the request through. */
    isAdmitted?: boolean;
  }
}

type Handler = (...args: unknown[]) => unknown;
type Controller = (new (...args: never[]) => object) & { prototype: Record<string, Handler> };

/** The method of a controller that serves a route. */
interface RouteHandler {
  controller: Controller;
  handler: Handler;
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
      const controller = metatype as Controller;
      for (const name of this.scanner.getAllMethodNames(controller.prototype)) {
        const handler = controller.prototype[name];
        for (const route of routesOf(controller, handler)) this.routes.set(route, { controller, handler });
      }
    }
  }

  /** Installs the hook; called after the hooks whose headers a refusal must carry (CORS). */
  install(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', async (request, reply) => {
      if (request.is404) throw new NotFoundException();
      const route = this.routeOf(request);
      if (!route) return;
      const admitted = this.admit(new ExecutionContextHost([request, reply], route.controller, route.handler));
      // A refused page learns of it on its socket, which can be opened where Nest runs its guards: they refuse it again.
      await (isPage(request) ? admitted.catch(() => undefined) : admitted);
    });
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (!context.switchToHttp().getRequest<FastifyRequest>().isAdmitted) await this.admit(context);
    return true;
  }

  private routeOf({ method, routeOptions }: FastifyRequest): RouteHandler | undefined {
    return this.routes.get(`${method === 'HEAD' ? 'GET' : method} ${routeOptions.url}`);
  }

  /** @throws {ApiError} what the first guard that refuses says */
  private async admit(context: ExecutionContext): Promise<void> {
    // A route that is switched off is not there for anybody, with a key or without.
    this.groups.canActivate(context);
    await this.auth.canActivate(context);
    context.switchToHttp().getRequest<FastifyRequest>().isAdmitted = true;
  }
}

function routesOf(controller: Controller, handler: Handler): string[] {
  const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
  if (method === undefined) return [];
  return pathsOf(controller).flatMap((prefix) =>
    pathsOf(handler).map((path) => {
      const parts = [prefix, path].map((part) => part.replace(/^\/|\/$/g, '')).filter((part) => part !== '');
      return `${RequestMethod[method]} /${parts.join('/')}`;
    }),
  );
}

function pathsOf(declared: object): string[] {
  const paths = Reflect.getMetadata(PATH_METADATA, declared) as string | string[] | undefined;
  return Array.isArray(paths) ? paths : [paths ?? ''];
}
