import { ArgumentsHost, Catch, ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLostConnection, PostgresUnreachable, READ_ONLY_SERVER } from '../database/lost-connections';
import { isRefusedConnection } from '../database/refused-connections';
import { causeOfQuery, isStatementCancelled, postgresErrorOf } from '../database/sql-errors';
import { isUnstorableText, UNSTORABLE_TEXT } from '../database/unstorable-text';
import { ApiError } from './api-error';
import { cutAnswer } from './open-answer';
import { refusePage } from './web-sockets';

/** Converts errors of handlers to the error format of the API, and logs unexpected ones once. */
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
    if (isUnavailable(error))
      this.logger.warn({ err: error, request_id: request.id }, 'The database accepts no connection');
    else if (hasLostConnection(error))
      this.logger.warn({ err: error, request_id: request.id }, 'The connection to the database was lost');
    if (!known) {
      this.logger.error({ err: error, request_id: request.id, route: request.routeOptions.url }, 'Unexpected error');
    }
    // Once an answer has begun its status can't say this: ended properly, it would pass for complete.
    if (reply.raw.headersSent) {
      if (!reply.raw.writableEnded) cutAnswer(reply.raw);
      return;
    }
    const answer = known ?? new ApiError(500, 'internal', 'Internal Server Error');
    if (refusePage(reply, answer)) return;
    void reply.status(answer.status).headers(answer.headers ?? {});
    if (answer.format === 'text') {
      reply.raw.statusMessage = reasonOf(answer.detail);
      void reply.type('text/plain; charset=utf-8').send(answer.detail);
    } else if (request.routeOptions.config.bodyAsText) {
      void reply.type('application/json; charset=utf-8').send(JSON.stringify(toJsonRpc(answer, request)));
    } else {
      void reply.type('application/json; charset=utf-8').send(JSON.stringify(answer.body()));
    }
  }
}

/**
 * The sentence of a plain answer as the reason phrase of its status line. Python's SDK takes messages only from JSON objects;
 * for text it shows only the status line.
 */
function reasonOf(detail: string): string {
  return detail.replace(/[^ -~]/g, '?').slice(0, 200);
}

/** The body for JSON-RPC routes, so that their clients can read refusals of HTTP (type, size, key). */
function toJsonRpc({ status, detail }: ApiError, { routeOptions }: FastifyRequest) {
  const usual = status < 500 ? -32_600 : -32_603;
  const code = status === 415 ? (routeOptions.config.jsonOnly ?? usual) : usual;
  return { jsonrpc: '2.0', id: null, error: { code, message: detail } };
}

/** The answer to an error of the caller or an overload; undefined for an unexpected one. */
export function toApiError(error: unknown, request: FastifyRequest): ApiError | undefined {
  if (error instanceof ApiError) return error;
  const cause = causeOfQuery(error);
  if (cause instanceof ApiError) return cause;
  if (error instanceof HttpException) {
    const status = error.getStatus();
    if (status === 404) {
      const format = request.url.startsWith('/api/') ? 'json' : 'text';
      return new ApiError(404, 'not_found', 'Not Found', { format });
    }
    if (status === 413) return bodyTooLarge(request);
    return status < 500 ? new ApiError(status, 'http', error.message) : undefined;
  }
  if (isUnavailable(error)) return databaseUnavailable();
  if (isReadOnly(error)) return databaseReadOnly();
  if (isStatementCancelled(error)) return tookTooLong(request);
  if (hasLostConnection(error)) return connectionLost();
  if (isUnstorableText(error)) return new ApiError(422, 'invalid_request', UNSTORABLE_TEXT);
  // Fastify's own refusals (body too large, unsupported media type…) carry a status and a code.
  if (
    error instanceof Error &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode < 500
  ) {
    if (error.statusCode === 413) return bodyTooLarge(request);
    return new ApiError(error.statusCode, 'code' in error ? String(error.code) : 'http', error.message);
  }
  return undefined;
}

function isUnavailable(error: unknown): boolean {
  return isRefusedConnection(error) || isRefusedConnection(causeOfQuery(error));
}

function hasLostConnection(error: unknown): boolean {
  return error instanceof PostgresUnreachable || isLostConnection(causeOfQuery(error));
}

/** Whether the database refused a write, of which nothing has taken effect. */
function isReadOnly(error: unknown): boolean {
  return postgresErrorOf(error)?.code === READ_ONLY_SERVER;
}

function databaseReadOnly(): ApiError {
  return new ApiError(503, 'database_unavailable', 'The database takes no writes: try again', {
    headers: { 'Retry-After': '1' },
  });
}

function databaseUnavailable(): ApiError {
  return new ApiError(503, 'database_unavailable', 'The database accepts no connection: try again', {
    headers: { 'Retry-After': '1' },
  });
}

function connectionLost(): ApiError {
  return new ApiError(
    503,
    'database_connection_lost',
    'The connection to the database was lost: look whether the request took effect before you repeat it',
  );
}

function tookTooLong({ routeOptions }: FastifyRequest): ApiError {
  const wayOut = 'narrow it: a shorter time range, fewer words, fewer conditions';
  return routeOptions.config.isSearch
    ? new ApiError(422, 'search_too_long', `The search took longer than GANTRY_SEARCH_TIMEOUT_SECONDS: ${wayOut}`)
    : new ApiError(503, 'statement_too_long', 'The database took longer than GANTRY_STATEMENT_TIMEOUT_SECONDS');
}

function bodyTooLarge({ routeOptions }: FastifyRequest): ApiError {
  const setting = routeOptions.config.isTraceUpload ? 'GANTRY_TRACE_LIMIT_BYTES' : 'GANTRY_BODY_LIMIT_BYTES';
  const limit = `${routeOptions.bodyLimit} bytes (${setting})`;
  return new ApiError(413, 'body_too_large', `The request body is too large: the limit is ${limit}`);
}
