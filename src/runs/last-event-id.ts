import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { headerOf } from '../http/header';

/**
 * The `Last-Event-ID` header: the last seq that the client has seen. `-1`, `-` and a missing header mean from the start, and so
 * does an id that this server never sent: a client of another server then misses nothing.
 */
export const LastEventId = createParamDecorator((_: unknown, context: ExecutionContext): number => {
  const id = headerOf(context.switchToHttp().getRequest<FastifyRequest>(), 'last-event-id') ?? '';
  return /^\d{1,9}$/.test(id) ? Number(id) : -1;
});
