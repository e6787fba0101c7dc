import { ArgumentsHost, Catch, ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { QueryFailedError } from 'typeorm';
import { ApiError } from './api-error';

/** Turns whatever a handler threw into the one error form of the API, and logs once what nobody expected. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Http');

  catch(error: unknown, host: ArgumentsHost): void {
    const context = host.switchToHttp();
    this.answer(error, context.getRequest<FastifyRequest>(), context.getResponse<FastifyReply>());
  }

  /** The same for routes that no controller has. */
  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const known = toApiError(error, request);
    if (!known) {
      this.logger.error({ err: error, request_id: request.id, route: request.routeOptions.url }, 'Unexpected error');
    }
    // The response of a stream has begun: its own code reports errors inside the stream.
    if (reply.raw.headersSent) {
      reply.raw.end();
      return;
    }
    const answer = known ?? new ApiError(500, 'internal', 'Internal Server Error');
    void reply.status(answer.status).headers(answer.headers ?? {});
    if (answer.format === 'text') {
      void reply.type('text/plain; charset=utf-8').send(answer.detail);
    } else {
      void reply
        .type('application/json; charset=utf-8')
        .send(JSON.stringify({ detail: answer.detail, ...(answer.errors && { errors: answer.errors }) }));
    }
  }
}

function toApiError(error: unknown, request: FastifyRequest): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof HttpException) {
    const status = error.getStatus();
    if (status === 404) {
      const format = request.url.startsWith('/api/') ? 'json' : 'text';
      return new ApiError(404, 'not_found', 'Not Found', { format });
    }
    return status < 500 ? new ApiError(status, 'http', error.message) : undefined;
  }
  // jsonb holds any text but this one character; nothing was stored.
  if (error instanceof QueryFailedError && (error.driverError as { code?: string }).code === '22P05') {
    return new ApiError(422, 'invalid_request', 'The body contains the character U+0000, which can not be stored');
  }
  // Fastify's own refusals (body too large, unsupported media type…) carry a status and a code.
  if (
    error instanceof Error &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode < 500
  ) {
    return new ApiError(error.statusCode, 'code' in error ? String(error.code) : 'http', error.message);
  }
  return undefined;
}
