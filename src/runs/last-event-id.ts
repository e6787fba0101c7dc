import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { headerOf } from '../http/header';

/**
 * The `Last-Event-ID` header: the seq that the client saw last. `-1`, `-` and absence mean from the start; an id that this
 * server never gave means the same, so that a client that comes from elsewhere misses nothing.
 */
export const LastEventId = createParamDecorator((_: unknown, context: ExecutionContext): number => {
  const id = headerOf(context.switchToHttp().getRequest<FastifyRequest>(), 'last-event-id') ?? '';
  return /^\d{1,9}$/.test(id) ? Number(id) : -1;
});
