import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Observable, tap } from 'rxjs';
import { stringifyExactly } from '../../http/exact-json';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers of these routes contain traced data, with integers of any size. */
@Injectable()
export class ExactNumbers implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    // Not for errors, which are serialized already. With a custom serializer the content type has to be set as well.
    const answerExactly = (): void => void reply.type(JSON_TYPE).serializer(stringifyExactly);
    return next.handle().pipe(tap(answerExactly));
  }
}
