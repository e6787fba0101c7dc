import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import {
  createMcpHandler,
  type McpHttpHandler,
  hostHeaderValidationResponse,
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  isLegacyRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  legacyStatelessFallback,
  localhostAllowedHostnames,
  originValidationResponse,
  parseJSONRPCMessage,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import { deriveKey } from '../crypto/derive-key';
import { OpenAnswer } from '../http/open-answer';
import { hostOf } from '../http/request-target';
import { HEARTBEAT_MS } from '../http/streaming';
import { CallStream } from './call-stream';
import { McpMetrics } from './mcp.metrics';
import { type HttpCaller, McpServerFactory } from './mcp-server.factory';
import { McpSessionBus } from './mcp-session-bus';
import { issueSession, type McpSession, ownerOf, readSession } from './mcp-session';
import { answerInJson, BOTH_TYPES, readsEvents } from './json-answer';
import { streamLateResponse } from './late-response';
import { McpToolsService } from './mcp-tools.service';

/** When a client that has lost a stream comes back for the rest of it. */
const RETRY_MS = 1_000;

/**
 * Streamable HTTP, both generations of it on one path. Revision 2026-07-28 is stateless by design; the sessions of the older
 * ones are stateless because their ids contain all that a server needs.
 */
@Injectable()
export class McpEndpoint implements OnModuleDestroy {
  private readonly logger = new Logger(McpEndpoint.name);
  /** Made for the first request, since the library takes memory. */
  private modern: McpHttpHandler | undefined;
  private readonly sessionKey: Buffer;
  private readonly streamKey: Buffer;

  constructor(
    private readonly config: AppConfig,
    private readonly servers: McpServerFactory,
    private readonly bus: McpSessionBus,
    private readonly metrics: McpMetrics,
    tools: McpToolsService,
  ) {
    tools.onChange(() => this.modern?.notify.toolsChanged());
    this.sessionKey = deriveKey(config.secrets.key, 'gantry mcp session');
    this.streamKey = deriveKey(config.secrets.key, 'gantry mcp event');
  }

  async onModuleDestroy(): Promise<void> {
    this.servers.close();
    await this.modern?.close();
  }

  /** Answers one HTTP request; the body is text, since errors in it are reported in the protocol's terms. */
  async handle(tenantId: TenantId, request: FastifyRequest, reply: FastifyReply): Promise<Response> {
    const answer = new OpenAnswer(reply, 'wait');
    const asked = toWebRequest(request, answer.signal);
    const refused = this.refuse(asked);
    if (refused) return refused;
    const parsed = parseBody(request.body);
    for (const method of methodsOf(parsed)) this.metrics.received(method);
    // Not served for a client that has left already: the signal would come no more. Its notifications and answers still count.
    if (answer.signal.aborted && (asked.method === 'GET' || isJSONRPCRequest(parsed))) return new Response();
    const caller = { tenantId, owner: ownerOf(tenantId, request.user), answer };
    if (asked.method !== 'POST' || readsEvents(asked)) return this.serve(caller, asked, parsed);
    asked.headers.set('accept', BOTH_TYPES);
    return answerInJson(this.serve(caller, asked, parsed), parsed, HEARTBEAT_MS);
  }

  private async serve(caller: HttpCaller, asked: Request, parsed: unknown): Promise<Response> {
    if (takesUp(asked) || (await isLegacyRequest(asked.clone() as Request, parsed)))
      return this.serveLegacy(caller, asked, parsed);
    this.modern ??= createMcpHandler(({ authInfo }) => this.servers.create(callerOf(authInfo), 'modern'), {
      legacy: 'reject',
      keepAliveMs: HEARTBEAT_MS,
      onerror: (error) => this.report(error),
    });
    const response = this.modern.fetch(asked, {
      authInfo: authInfoOf(caller),
      ...(parsed !== undefined && { parsedBody: parsed }),
    });
    return streamLateResponse(response, HEARTBEAT_MS, caller.answer.signal);
  }

  /** A web page must not reach a server on the same machine by its own host name (DNS rebinding). */
  private refuse(request: Request): Response | undefined {
    const { apiUrl, publicUrl, mcpAllowedHosts: allowed } = this.config.http;
    if (allowed.includes('*')) return undefined;
    // The console is a page of this server, and calls tools.
    const own = [apiUrl, publicUrl].flatMap((url) => (url ? new URL(url).hostname : []));
    const hosts = [...localhostAllowedHostnames(), ...own, ...allowed];
    const byHost = this.config.http.isLoopback ? hostHeaderValidationResponse(request, hosts) : undefined;
    return byHost ?? originValidationResponse(request, hosts);
  }

  private async serveLegacy(caller: HttpCaller, request: Request, body: unknown): Promise<Response> {
    const { owner } = caller;
    const token = request.headers.get('mcp-session-id');
    const session = token === null ? undefined : readSession(this.sessionKey, owner, token);
    if (token !== null && !session) return rpcError(404, -32_001, 'Session not found');
    if (session && takesUp(request)) return this.takeUp(caller, session, request);
    const message = toMessage(body);
    const passed = message && (await this.passOn(session, message));
    if (passed) return passed;
    if (session && message && isJSONRPCRequest(message) && message.method === 'tools/call') {
      const stream = CallStream.beginStream(this.streamKey, session, message);
      return this.serveCall(caller, session, request, message, stream);
    }
    const serve = legacyStatelessFallback(
      () => this.servers.create(caller, 'legacy', session),
      (error) => this.report(error),
      { maxRequestBodySize: this.config.http.bodyLimitBytes },
    );
    const response = await serve(request, {
      authInfo: authInfoOf(caller),
      ...(body !== undefined && { parsedBody: body }),
    });
    if (response.ok && message && isInitializeRequest(message)) {
      const { protocolVersion, capabilities } = message.params;
      response.headers.set('mcp-session-id', issueSession(this.sessionKey, owner, protocolVersion, capabilities));
    }
    return response;
  }

  /** Resumes the stream of a call after the last event that the client has seen. */
  private async takeUp(caller: HttpCaller, session: McpSession, request: Request): Promise<Response> {
    const stream = CallStream.resume(this.streamKey, session, request.headers.get('last-event-id') ?? '');
    if (!stream) return rpcError(400, -32_600, 'Last-Event-ID is not of a stream of this session');
    const headers = new Headers(request.headers);
    headers.set('content-type', 'application/json');
    headers.set('accept', BOTH_TYPES);
    const { url, signal } = request;
    const asked = new Request(url, { method: 'POST', headers, signal, body: JSON.stringify(stream.request) });
    return this.serveCall(caller, session, asked, stream.request, stream);
  }

  private async serveCall(
    caller: HttpCaller,
    session: McpSession,
    request: Request,
    message: JSONRPCRequest,
    stream: CallStream,
  ): Promise<Response> {
    const server = this.servers.create(caller, 'legacy', session);
    const transport = new WebStandardStreamableHTTPServerTransport({
      eventStore: stream,
      keepAliveMs: HEARTBEAT_MS,
      retryInterval: RETRY_MS,
    });
    transport.onerror = (error) => this.report(error);
    await server.connect(transport);
    request.signal.addEventListener('abort', () => void server.close(), { once: true });
    const response = await transport.handleRequest(request, {
      authInfo: authInfoOf(caller, { stream }),
      parsedBody: message,
    });
    if (!response.ok) await server.close();
    return response;
  }

  /** Answers and cancellations belong to a request that is served elsewhere. */
  private async passOn(session: McpSession | undefined, message: JSONRPCMessage): Promise<Response | undefined> {
    const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
    const isCancellation = isJSONRPCNotification(message) && message.method === 'notifications/cancelled';
    if (!isAnswer && !isCancellation) return undefined;
    const delivery = session ? await this.bus.deliver(session.id, message) : 'not-awaited';
    // A cancellation may be late: a call that has ended needs no answer.
    if (delivery === 'taken' || isCancellation) return new Response(null, { status: 202 });
    if (delivery === 'too-large') return rpcError(413, -32_600, 'The answer is larger than 1 MiB');
    return rpcError(400, -32_600, 'No request of this session waits for this answer');
  }

  private report(error: Error): void {
    this.logger.debug({ err: error }, 'Refused or failed');
  }
}

/** Whether a client asks for the rest of a stream that it has lost. */
function takesUp({ method, headers }: Request): boolean {
  return method === 'GET' && headers.has('last-event-id');
}

function parseBody(body: unknown): unknown {
  if (typeof body !== 'string' || body === '') return undefined;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    // The protocol's own parser gets the text and answers.
    return undefined;
  }
}

/** The methods of one message, or of each of a batch; answers have none. */
function methodsOf(body: unknown): string[] {
  return (Array.isArray(body) ? (body as unknown[]) : [body]).flatMap((message) =>
    typeof message === 'object' && message !== null && 'method' in message && typeof message.method === 'string'
      ? message.method
      : [],
  );
}

function toMessage(body: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(body);
  } catch {
    // A batch, or not JSON-RPC at all: the protocol's own parser answers.
    return undefined;
  }
}

function toWebRequest(request: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const each of Array.isArray(value) ? value : value === undefined ? [] : [value]) headers.append(name, each);
  }
  const withBody = typeof request.body === 'string' && request.method !== 'GET' && request.method !== 'HEAD';
  return new Request(`http://${hostOf(request)}${request.url}`, {
    method: request.method,
    headers,
    signal,
    ...(withBody && { body: request.body as string }),
  });
}

/** The SDK passes the caller in its own terms. */
function authInfoOf(caller: HttpCaller, extra: Record<string, unknown> = {}) {
  const { tenantId, owner } = caller;
  return { token: '', clientId: tenantId, scopes: [], extra: { ...extra, owner, caller } };
}

function callerOf(authInfo: { extra?: Record<string, unknown> } | undefined): HttpCaller {
  if (!authInfo?.extra?.caller) throw new Error('A request reached the protocol without a caller');
  return authInfo.extra.caller as HttpCaller;
}

function rpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}
