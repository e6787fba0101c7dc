import { RouteConfig } from '@nestjs/platform-fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route searches by arbitrary conditions, so that its statements have a shorter time limit. */
    isSearch?: boolean;
  }
}

/** A route whose statements end after GANTRY_SEARCH_TIMEOUT_SECONDS, and as soon as the client disconnects. */
export const SearchRoute = (): MethodDecorator => RouteConfig({ isSearch: true });
