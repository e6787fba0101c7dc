import { RouteConfig } from '@nestjs/platform-fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route only reads, by conditions that its caller makes up: its statements are bounded more tightly than others. */
    isSearch?: boolean;
  }
}

/** A route whose statements end after GANTRY_SEARCH_TIMEOUT_SECONDS, and as soon as the client disconnects. */
export const SearchRoute = (): MethodDecorator => RouteConfig({ isSearch: true });
