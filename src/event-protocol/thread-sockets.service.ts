import { ExecutionContext, Injectable, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { AuthGuard } from '../auth/auth.guard';
import { scopeOf } from '../auth/tenant-scope.interceptor';
import { inScope } from '../database/request-scope';
import { ApiError } from '../http/api-error';
import { checkJson } from '../http/json-limits';
import { SocketStream } from '../http/socket-stream';
import { acceptWebSocket, INTERNAL_ERROR } from '../http/web-sockets';
import type { RunOrigin } from '../runs/run-origin';
import { refusalOf, ThreadRefused } from './command-refusals';
import { CommandsService } from './commands.service';
import { parseEnvelope } from './envelope.pipe';
import { type CommandReply, protocolCommandSchema } from './event-protocol.schemas';
import { toEnvelope, viewOf } from './protocol-event';
import { ThreadEventsService } from './thread-events.service';
import { ThreadSubscriptions } from './thread-subscriptions';

/** Data of a handshake. */
export interface ThreadSocket extends RunOrigin {
  threadId: string;
}

/**
 * The event protocol on a WebSocket: commands as by HTTP, and between their replies the events of what was subscribed to. The
 * thread need not be there when the socket is opened: `run.start` makes it.
 */
@Injectable()
export class ThreadSocketsService {
  private readonly logger = new Logger('Http');

  constructor(
    private readonly guard: AuthGuard,
    private readonly commands: CommandsService,
    private readonly events: ThreadEventsService,
  ) {}

  /** @throws {ApiError} 426 when the request is no handshake */
  accept(context: ExecutionContext, reply: FastifyReply, wanted: ThreadSocket): void {
    acceptWebSocket(reply, (socket) => this.serve(context, reply, wanted, socket));
  }

  private serve(context: ExecutionContext, reply: FastifyReply, wanted: ThreadSocket, socket: WebSocket): void {
    const { request } = reply;
    const refuse = async (reason: ApiError, id: number | null): Promise<void> => {
      await stream.send([JSON.stringify(refusalOf(id, reason))]);
      stream.refuse(reason);
    };
    const stream = new SocketStream(socket, request, async (message) => {
      const answer = await this.answer(context, request, message, { ...wanted, subscriptions });
      if ('refused' in answer) return refuse(answer.refused, answer.id);
      const sent = stream.send([JSON.stringify(answer)]);
      // After the reply, and until there are no subscriptions: only a failure is of interest here.
      inScope(scopeOf(request), () => subscriptions.beginReading()).catch(async (error: unknown) => {
        if (error instanceof ThreadRefused) return refuse(error.reason, null);
        this.log(request, error);
        stream.close(INTERNAL_ERROR);
      });
      await sent;
    });
    const view = viewOf(request.headers['user-agent']);
    const subscriptions = new ThreadSubscriptions(
      this.events,
      wanted,
      view,
      (events) => stream.send(events.map((event) => toEnvelope(event, event.seq, view))),
      stream.signal,
    );
  }

  /** Answers as to a request of its own: the caller is authenticated again, and counted. */
  private async answer(
    context: ExecutionContext,
    request: FastifyRequest,
    message: string,
    wanted: ThreadSocket & { subscriptions: ThreadSubscriptions },
  ): Promise<CommandReply | { id: number | null; refused: ApiError }> {
    let id: number | null = null;
    try {
      const value = parseJson(request, message);
      id = idOf(value);
      await this.guard.canActivate(context);
      const command = parseEnvelope(protocolCommandSchema, value);
      return await inScope(scopeOf(request), () => this.commands.handle(wanted, command));
    } catch (error) {
      if (error instanceof ThreadRefused) return { id, refused: error.reason };
      if (error instanceof ApiError && error.status < 500) return refusalOf(id, error);
      this.log(request, error);
      return { type: 'error', id, error: 'unknown_error', message: 'Internal Server Error' };
    }
  }

  private log(request: FastifyRequest, error: unknown): void {
    this.logger.error({ err: error, request_id: request.id, route: request.routeOptions.url }, 'Unexpected error');
  }
}

/** @throws {ApiError} 400; 422 for what costs too much */
function parseJson({ server }: FastifyRequest, text: string): unknown {
  checkJson(text);
  let parsed: unknown;
  // As bodies are read, names that would reach a prototype included; it calls back at once.
  void server.getDefaultJsonParser('error', 'error')({} as FastifyRequest, text, (error, value) => {
    if (error) throw new ApiError(400, 'invalid_json', `Invalid JSON: ${error.message}`);
    parsed = value;
  });
  return parsed;
}

/** Shows a client which of its commands is malformed. */
function idOf(value: unknown): number | null {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
  return Number.isInteger(id) ? (id as number) : null;
}
