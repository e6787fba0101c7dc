import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Observable, tap } from 'rxjs';
import { stringifyExactly } from '../../http/exact-json';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers of these routes hold what users traced: integers of any size. */
@Injectable()
export class ExactNumbers implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    // Not for errors: their texts are written already. With a serializer of one's own the type is not set either.
    const answerExactly = (): void => void reply.type(JSON_TYPE).serializer(stringifyExactly);
    return next.handle().pipe(tap(answerExactly));
  }
}
