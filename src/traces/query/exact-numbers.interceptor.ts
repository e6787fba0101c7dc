import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Observable, tap } from 'rxjs';
import { stringifyExactly } from '../../http/exact-json';

/** Answers of these routes hold what users traced: integers of any size. */
@Injectable()
export class ExactNumbers implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    // Not for errors: their texts are written already.
    return next.handle().pipe(tap(() => void reply.serializer(stringifyExactly)));
  }
}
