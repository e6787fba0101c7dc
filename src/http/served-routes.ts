import type { FastifyInstance } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';

/** Longest value of a parameter in a path, in characters. */
export const MAX_PARAMETER_LENGTH = 2_048;

/** Routes of a server, to be asked for before a request is routed. */
export class ServedRoutes {
  private readonly router = findMyWay({ maxParamLength: MAX_PARAMETER_LENGTH });

  /** Notes the routes of a server, to which none has been added yet. */
  noteRoutesOf(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ url, method }) => {
      for (const each of [method].flat() as HTTPMethod[]) {
        if (!this.router.hasRoute(each, url)) this.router.on(each, url, () => undefined);
      }
    });
  }

  has(method: string, target: string): boolean {
    return this.router.find(method as HTTPMethod, target.split('?', 1)[0]) !== null;
  }
}
