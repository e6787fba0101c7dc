import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import { headerOf } from '../http/header';
import { LateJsonResponse, sendEvents } from '../http/streaming';
import { whenClosed } from '../http/when-closed';
import { A2aCardService } from './a2a-card.service';
import { type Binding, JSON_RPC, refusedVersion, restBinding } from './a2a-bindings';
import { A2aRpcService, type RpcAnswer, type RpcOutcome, type RpcRequest } from './a2a-rpc.service';
import type { RunOrigin } from '../runs/run-origin';
import { requestedVersion } from './a2a-version';

const CARD_MAX_AGE_SECONDS = 300;
const PROVISIONAL_MAX_AGE_SECONDS = 2;

/** A method of 1.0 as its route names it. */
export interface RestCall {
  method: string;
  params: unknown;
  /** Status of an answer that isn't an error, 200 by default. */
  status?: number;
}

/** The HTTP side of the protocol: reads headers, and writes an answer, a late answer or a stream. */
@Injectable()
export class A2aExchange {
  constructor(
    private readonly config: AppConfig,
    private readonly rpc: A2aRpcService,
    private readonly cards: A2aCardService,
  ) {}

  async card(
    tenantId: TenantId,
    idOrGraph: string | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const version = requestedVersion(versionOf(request)) ?? '1.0';
    const { json, etag, modified, isProvisional } = await this.cards.render(
      tenantId,
      idOrGraph,
      version,
      this.baseUrl(request),
    );
    const { isEnabled, hasPublicCards } = this.config.auth;
    const scope = isEnabled && !hasPublicCards ? 'private' : 'public';
    void reply.headers({
      etag,
      'last-modified': modified.toUTCString(),
      'cache-control': `${scope}, max-age=${isProvisional ? PROVISIONAL_MAX_AGE_SECONDS : CARD_MAX_AGE_SECONDS}`,
      vary: 'A2A-Version, X-API-Key, Host, X-Forwarded-Host, X-Forwarded-Proto',
    });
    const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
    if (known.includes(etag) || known.includes('*')) void reply.status(304).send();
    else void reply.type('application/json; charset=utf-8').send(json);
  }

  /** JSON-RPC: one call or a batch in the body. */
  callRpc(assistantId: string, origin: RunOrigin, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const text = typeof request.body === 'string' ? request.body : '';
    return this.call(JSON_RPC, reply, (connection) =>
      this.rpc.handle({ ...origin, assistantId, ...this.about(request), ...connection }, text),
    );
  }

  /** The HTTP+JSON binding, which only 1.0 has here. */
  callRest(
    { method, params, status = 200 }: RestCall,
    assistantId: string,
    origin: RunOrigin,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const { version = '1.0', baseUrl } = this.about(request);
    return this.call(restBinding(status), reply, async (connection) =>
      requestedVersion(version) === '1.0'
        ? this.rpc.call({ ...origin, assistantId, version, baseUrl, ...connection }, method, params)
        : refusedVersion(version),
    );
  }

  private async call(
    binding: Binding,
    reply: FastifyReply,
    work: (connection: Pick<RpcRequest, 'signal' | 'onWaiting'>) => Promise<RpcOutcome>,
  ): Promise<void> {
    const gone = new AbortController();
    whenClosed(reply.raw, () => {
      if (!reply.raw.writableEnded) gone.abort();
    });
    let late: LateJsonResponse | undefined;
    const outcome = await work({
      signal: gone.signal,
      onWaiting: () => (late ??= new LateJsonResponse(reply, { 'content-type': binding.contentType })),
    });
    if (outcome.kind === 'stream') return sendEvents(reply, () => framesOf(outcome.answers, binding));
    if (outcome.kind === 'nothing') return late ? late.end() : void reply.status(202).send();
    const { status, body } = binding.toAnswer(outcome);
    if (late) return late.end(body);
    void reply.status(status).type(binding.contentType).send(body);
  }

  private about(request: FastifyRequest): Pick<RpcRequest, 'version' | 'baseUrl'> {
    return { version: versionOf(request), baseUrl: this.baseUrl(request) };
  }

  /** URL at which the client reached this server: the operator's setting, or else that of the request or of a trusted proxy. */
  private baseUrl(request: FastifyRequest): string {
    if (this.config.http.publicUrl) return this.config.http.publicUrl;
    const url = `${request.protocol}://${request.host}`;
    return URL.canParse(url) ? new URL(url).origin : new URL(this.config.http.apiUrl).origin;
  }
}

async function* framesOf(answers: AsyncIterable<RpcAnswer>, binding: Binding): AsyncGenerator<string> {
  for await (const one of answers) yield binding.toFrame(one);
}

/** The protocol version in the header, or in a parameter of the same name. */
function versionOf(request: FastifyRequest): string | undefined {
  const parameter = Object.entries(request.query as Record<string, unknown>).find(
    ([name]) => name.toLowerCase() === 'a2a-version',
  )?.[1];
  return headerOf(request, 'a2a-version') ?? (typeof parameter === 'string' ? parameter : undefined);
}
