import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Observable } from 'rxjs';
import { stringifyExactly } from '../../http/exact-json';

/** Answers of these routes hold what users traced: integers of any size. */
@Injectable()
export class ExactNumbers implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    context.switchToHttp().getResponse<FastifyReply>().serializer(stringifyExactly);
    return next.handle();
  }
}
