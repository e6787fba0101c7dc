import { JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import type { TenantId } from '../auth/tenant';
import { isJsonObject } from '../database/json';
import { tooManyElements } from '../http/list-limit';
import { ApiError } from '../http/api-error';
import { fingerprintOf } from '../runs/idempotency';
import { type Agent, A2aAgentsService } from './a2a-agents.service';
import { A2aCardService } from './a2a-card.service';
import { A2aMetrics } from './a2a.metrics';
import { A2aPushService } from './a2a-push.service';
import { A2aStreamsService } from './a2a-streams.service';
import { A2aTasksService, type RunOptions } from './a2a-tasks.service';
import { fromProtoJson } from './a2a-proto-json';
import { type ProtocolVersion, requestedVersion, versionOfCall, VERSIONS } from './a2a-version';
import { a2aErrors } from './a2a.errors';
import { METHODS_0_3, METHODS_1_0, rpcRequest } from './a2a.schemas';
import { AssistantAgent } from './assistant-agent';

/** Calls of one batch. */
const MAX_BATCH = 100;
/** Calls of a batch that are executed at once. */
const AT_ONCE = 10;

type RpcId = string | number | null;

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

export interface RpcAnswer {
  jsonrpc: '2.0';
  id: RpcId;
  result?: unknown;
  error?: RpcError;
}

export interface RpcRequest extends RunOptions {
  tenantId: TenantId;
  assistantId: string;
  /** `A2A-Version`, from the header or the query. */
  version: string | undefined;
  baseUrl: string;
  signal: AbortSignal;
  /** Called when the answer has to wait for a run, which may take hours. */
  onWaiting: () => void;
}

/** The answer: an object, nothing (for notifications), or a stream of answers. */
export type RpcOutcome =
  | { kind: 'answer'; status: number; body: RpcAnswer | RpcAnswer[] }
  | { kind: 'nothing' }
  | { kind: 'stream'; answers: AsyncGenerator<RpcAnswer, void, undefined> };

interface Call extends RpcRequest {
  agent: Agent;
  spoken: ProtocolVersion;
  /** Path of the parameters in what the client sent, for errors. */
  paramsPath: string[];
}

const METHODS: Record<ProtocolVersion, typeof METHODS_1_0> = { '1.0': METHODS_1_0, '0.3': METHODS_0_3 };
/** Their clients only read events, so errors are sent as one too. */
const STREAMING_0_3 = new Set(['message/stream', 'tasks/resubscribe']);
const NEEDS_CONNECTION = new Set(['SendStreamingMessage', 'SubscribeToTask', ...STREAMING_0_3]);
/** States in which a stream of 0.3 ends although the task does not. */
const INTERRUPTED = new Set(['input-required', 'auth-required']);

/** Type of an error's details, which the protocol requires. */
const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest';

const rpcErrors = {
  parse: (detail: string): RpcError => ({ code: -32700, message: `Invalid JSON payload: ${detail}` }),
  invalidRequest: (detail: string): RpcError => ({
    code: -32600,
    message: `Request payload validation error: ${detail}`,
  }),
  unknownMethod: (method: string): RpcError => ({
    code: -32601,
    message: 'Method not found',
    data: [{ '@type': ERROR_INFO, reason: 'METHOD_NOT_FOUND', domain: 'a2a-protocol.org', metadata: { method } }],
  }),
  invalidParams: (violations: { field: string; description: string }[]): RpcError => ({
    code: -32602,
    message: `Invalid parameters: ${violations.map(({ field, description }) => named(field, description)).join('; ')}`,
    data: [{ '@type': BAD_REQUEST, fieldViolations: violations }],
  }),
};

/** JSON-RPC 2.0 around the protocol's library: what a request is, batches, versions, and the check of every parameter. */
@Injectable()
export class A2aRpcService {
  constructor(
    private readonly agents: A2aAgentsService,
    private readonly tasks: A2aTasksService,
    private readonly streams: A2aStreamsService,
    private readonly push: A2aPushService,
    private readonly cards: A2aCardService,
    private readonly metrics: A2aMetrics,
  ) {}

  /** @param text the body of the request: one call or a batch */
  async handle(request: RpcRequest, text: string): Promise<RpcOutcome> {
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch (error) {
      return answer(failure(null, rpcErrors.parse(error instanceof Error ? error.message : String(error))));
    }
    return this.handleParsed(request, body, ['params']);
  }

  /** One call of a method of 1.0 that came without JSON-RPC's envelope. */
  call(request: RpcRequest, method: string, params: unknown): Promise<RpcOutcome> {
    return this.handleParsed(request, { jsonrpc: '2.0', id: 0, method, params }, []);
  }

  private async handleParsed(request: RpcRequest, body: unknown, paramsPath: string[]): Promise<RpcOutcome> {
    const spoken = requestedVersion(request.version);
    if (!spoken) {
      const error = JsonRpcTransportHandler.mapToJSONRPCError(a2aErrors.version(request.version ?? '', [...VERSIONS]));
      return answer(failure(idOf(body), error));
    }
    let agent: Agent;
    try {
      agent = await this.agents.getAgent(request.tenantId, request.assistantId);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return {
        kind: 'answer',
        status: error.status,
        body: failure(idOf(body), { code: -32602, message: error.detail }),
      };
    }
    const call: Call = { ...request, agent, spoken, paramsPath };
    return Array.isArray(body) ? this.batch(call, body) : this.single(call, body);
  }

  /** Each call is answered, except notifications; methods that need their own connection are refused. */
  private async batch(call: Call, calls: unknown[]): Promise<RpcOutcome> {
    if (calls.length === 0) return answer(failure(null, rpcErrors.invalidRequest('an empty batch')));
    if (calls.length > MAX_BATCH) {
      return answer(failure(null, rpcErrors.invalidRequest(`a batch of more than ${MAX_BATCH} calls`)));
    }
    const answers = await pLimit(AT_ONCE).map(calls, async (body, index) => {
      if (NEEDS_CONNECTION.has(methodOf(body))) {
        return failure(idOf(body), rpcErrors.invalidRequest('a stream cannot be part of a batch'));
      }
      const { idempotency } = call;
      const own = idempotency && { ...idempotency, route: `${idempotency.route}#${index}` };
      const outcome = await this.single({ ...call, idempotency: own }, body);
      return outcome.kind === 'answer' ? (outcome.body as RpcAnswer) : undefined;
    });
    const given = answers.filter((one) => one !== undefined);
    return given.length > 0 ? { kind: 'answer', status: 200, body: given } : { kind: 'nothing' };
  }

  private async single(request: Call, body: unknown): Promise<RpcOutcome> {
    const method = methodOf(body);
    const call = { ...request, spoken: versionOfCall(request.version, request.spoken, method) };
    const outcome = await this.answerTo(call, body);
    const only = outcome.kind === 'answer' ? (outcome.body as RpcAnswer) : undefined;
    this.metrics.answered(method, only?.error?.code);
    const isExpectedAsEvent = call.spoken === '0.3' && STREAMING_0_3.has(method);
    return only && isExpectedAsEvent ? { kind: 'stream', answers: alone(only) } : outcome;
  }

  private async answerTo(call: Call, given: unknown): Promise<RpcOutcome> {
    const id = idOf(given);
    const body = call.spoken === '1.0' ? withPlainParams(given) : given;
    const wrong = check(body, call);
    if (wrong) return answer(failure(id, wrong));
    const request = call.spoken === '0.3' ? withDefaults(body as RpcBody) : (body as RpcBody);
    const outcome = await this.dispatch(call, request);
    const isNotification = !('id' in request);
    if (Symbol.asyncIterator in outcome) {
      const answers = outcome as AsyncGenerator<RpcAnswer, void, undefined>;
      if (!isNotification) return this.stream(call, id, answers);
      await answers.return();
      return { kind: 'nothing' };
    }
    return isNotification ? { kind: 'nothing' } : answer(outcome as RpcAnswer);
  }

  private dispatch(call: Call, request: RpcBody) {
    const { agent, spoken, signal, onWaiting, idempotency, headers, baseUrl } = call;
    const { tasks, streams, push } = this;
    const card = (described: Agent) => this.cards.card(described, baseUrl);
    const own = idempotency && { ...idempotency, fingerprint: fingerprintOf(JSON.stringify(request.params)) };
    const handler = new AssistantAgent(
      agent,
      { tasks, streams, push, card },
      { version: spoken, signal, onWaiting, idempotency: own, headers },
    );
    const context = new ServerCallContext({ requestedVersion: spoken });
    return spoken === '1.0'
      ? new JsonRpcTransportHandler(handler).handle(request, context)
      : new LegacyJsonRpcTransportHandler(handler).handle(request, context);
  }

  /** An error before the first event is the answer; after it, the last event. */
  private async stream(
    { spoken }: Call,
    id: RpcId,
    answers: AsyncGenerator<RpcAnswer, void, undefined>,
  ): Promise<RpcOutcome> {
    const toError = (error: unknown): RpcAnswer =>
      failure(
        id,
        spoken === '1.0'
          ? JsonRpcTransportHandler.mapToJSONRPCError(error)
          : LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error),
      );
    let first: IteratorResult<RpcAnswer, void>;
    try {
      first = await answers.next();
    } catch (error) {
      return answer(toError(error));
    }
    async function* all(): AsyncGenerator<RpcAnswer, void, undefined> {
      try {
        for (let next = first; !next.done; next = await answers.next()) {
          yield spoken === '0.3' ? withFinal(next.value) : next.value;
        }
      } catch (error) {
        yield toError(error);
      } finally {
        await answers.return();
      }
    }
    return { kind: 'stream', answers: all() };
  }
}

interface RpcBody extends Record<string, unknown> {
  jsonrpc: '2.0';
  method: string;
  id?: RpcId;
  params?: Record<string, unknown>;
}

function answer(body: RpcAnswer): RpcOutcome {
  return { kind: 'answer', status: 200, body };
}

/** A stream of a single answer. */
async function* alone(only: RpcAnswer): AsyncGenerator<RpcAnswer, void, undefined> {
  yield only;
}

function withPlainParams(body: unknown): unknown {
  return isJsonObject(body) && 'params' in body ? { ...body, params: fromProtoJson(body.params) } : body;
}

function failure(id: RpcId, error: RpcError): RpcAnswer {
  return { jsonrpc: '2.0', id, error };
}

function idOf(body: unknown): RpcId {
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : null;
  return typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id)) ? id : null;
}

function methodOf(body: unknown): string {
  return typeof body === 'object' && body !== null && 'method' in body && typeof body.method === 'string'
    ? body.method
    : '';
}

/** A sentence about a field; alone where it is about the whole. */
function named(field: string, sentence: string): string {
  return field === '' ? sentence : `${field}: ${sentence}`;
}

/** The error of a malformed call; the library assumes that calls are valid. */
function check(body: unknown, { spoken, paramsPath }: Call): RpcError | undefined {
  const envelope = rpcRequest.safeParse(body);
  if (!envelope.success) {
    const [{ path, message }] = envelope.error.issues;
    return rpcErrors.invalidRequest(named(path.join('.'), message));
  }
  const { method, params } = envelope.data;
  const methods = METHODS[spoken];
  if (!Object.hasOwn(methods, method)) return rpcErrors.unknownMethod(method);
  const refusal = tooManyElements(methods[method], params);
  if (refusal !== undefined) return rpcErrors.invalidParams([{ field: paramsPath.join('.'), description: refusal }]);
  const parsed = methods[method].safeParse(params);
  if (parsed.success) return undefined;
  return rpcErrors.invalidParams(
    parsed.error.issues.map(({ path, message }) => ({
      field: [...paramsPath, ...path].join('.'),
      description: message,
    })),
  );
}

/**
 * In 0.3 a message waits for its result unless the caller says otherwise; the library treats any configuration as saying so.
 */
function withDefaults(request: RpcBody): RpcBody {
  const configuration = request.params?.configuration as { blocking?: boolean | null } | null | undefined;
  if (request.method !== 'message/send' || !configuration || typeof configuration.blocking === 'boolean')
    return request;
  return { ...request, params: { ...request.params, configuration: { ...configuration, blocking: true } } };
}

/** In 0.3 the last event of a stream is marked; the library marks only the ends of tasks. */
function withFinal(given: RpcAnswer): RpcAnswer {
  const result = given.result as { kind?: string; status?: { state: string } } | undefined;
  const isLast = result?.kind === 'status-update' && INTERRUPTED.has(result.status?.state ?? '');
  return isLast ? { ...given, result: { ...result, final: true } } : given;
}
