import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import { headerOf } from '../http/header';
import { LateJsonResponse, sendEvents } from '../http/streaming';
import { A2aCardService } from './a2a-card.service';
import { A2aRpcService, type RpcAnswer } from './a2a-rpc.service';
import type { RunOptions } from './a2a-tasks.service';
import { requestedVersion } from './a2a-version';

const CARD_MAX_AGE_SECONDS = 300;
const PROVISIONAL_MAX_AGE_SECONDS = 2;

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

  async call(
    tenantId: TenantId,
    assistantId: string,
    forRuns: RunOptions,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const gone = new AbortController();
    reply.raw.on('close', () => {
      if (!reply.raw.writableEnded) gone.abort();
    });
    let late: LateJsonResponse | undefined;
    const outcome = await this.rpc.handle({
      tenantId,
      assistantId,
      body: typeof request.body === 'string' ? request.body : '',
      version: versionOf(request),
      baseUrl: this.baseUrl(request),
      signal: gone.signal,
      onWaiting: () => (late ??= new LateJsonResponse(reply, {})),
      ...forRuns,
    });
    if (outcome.kind === 'stream') return sendEvents(reply, () => framesOf(outcome.answers));
    if (late) return late.end(outcome.kind === 'answer' ? JSON.stringify(outcome.body) : '');
    if (outcome.kind === 'nothing') return void reply.status(202).send();
    void reply.status(outcome.status).type('application/json; charset=utf-8').send(JSON.stringify(outcome.body));
  }

  /** URL at which the client reached this server: the operator's setting, or else that of the request or of a trusted proxy. */
  private baseUrl(request: FastifyRequest): string {
    if (this.config.http.publicUrl) return this.config.http.publicUrl;
    const url = `${request.protocol}://${request.host}`;
    return URL.canParse(url) ? new URL(url).origin : new URL(this.config.http.apiUrl).origin;
  }
}

async function* framesOf(answers: AsyncIterable<RpcAnswer>): AsyncGenerator<string> {
  for await (const one of answers) yield `data: ${JSON.stringify(one)}\n\n`;
}

/** The protocol version in the header, or in a parameter of the same name. */
function versionOf(request: FastifyRequest): string | undefined {
  const parameter = Object.entries(request.query as Record<string, unknown>).find(
    ([name]) => name.toLowerCase() === 'a2a-version',
  )?.[1];
  return headerOf(request, 'a2a-version') ?? (typeof parameter === 'string' ? parameter : undefined);
}
