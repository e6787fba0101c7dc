import { Injectable } from '@nestjs/common';
import {
  type McpRequestContext,
  SdkError,
  Server,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
} from '@modelcontextprotocol/server';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import type { OpenAnswer } from '../http/open-answer';
import { McpCallsService } from './mcp-calls.service';
import { shownError } from './mcp.errors';
import type { McpSession, SessionOwner } from './mcp-session';
import { McpSessionBus } from './mcp-session-bus';
import { McpToolsService } from './mcp-tools.service';
import { SessionTransport } from './session-transport';

/** A person answers: the protocol's minute is too short. Kept below what proxies and clients hold a stream open for. */
const ANSWER_MS = 3_600_000;
/** Questions that one call of the older revisions may ask, one after the other. */
const MAX_ROUNDS = 50;
/** Assistants are created and renamed any time: clients ask again after a minute. */
const LIST_TTL_MS = 60_000;

/** The caller of a request, and its answer. */
export interface HttpCaller {
  tenantId: TenantId;
  owner: SessionOwner;
  answer: OpenAnswer;
}

/** Creates the protocol's server for each request, with the tenant's assistants as tools. */
@Injectable()
export class McpServerFactory {
  /** Closes the connections of a process that stops; its runs continue. */
  private closing = false;

  constructor(
    private readonly config: AppConfig,
    private readonly tools: McpToolsService,
    private readonly calls: McpCallsService,
    private readonly bus: McpSessionBus,
  ) {}

  /** From now on the end of a connection doesn't count as a cancellation by its client. */
  close(): void {
    this.closing = true;
  }

  create({ tenantId, answer }: HttpCaller, era: McpRequestContext['era'], session?: McpSession): Server {
    const server = new SessionServer(
      { name: 'gantry', title: 'Gantry', version: this.config.version },
      {
        capabilities: { tools: {} },
        instructions: 'Every tool runs an agent. A run may take long and may ask back.',
        supportedProtocolVersions: [...SUPPORTED_PROTOCOL_VERSIONS],
        cacheHints: { 'tools/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' } },
        requestState: { verify: (state, context) => this.calls.states.verify(state, context) },
        inputRequired: { maxRounds: MAX_ROUNDS, roundTimeoutMs: ANSWER_MS },
      },
      session && { session, bus: this.bus },
    );
    server.setRequestHandler('tools/list', ({ params }) =>
      this.tools.list(tenantId, params?.cursor).catch((error: unknown) => {
        throw shownError(error);
      }),
    );
    server.setRequestHandler('tools/call', ({ params }, context) =>
      this.calls.call(
        {
          tenantId,
          era,
          capabilities: server.getClientCapabilities(),
          isCancelled: (signal) =>
            !this.closing && !answer.isBrokenOff && (era === 'modern' || !(signal.reason instanceof SdkError)),
        },
        params,
        context,
      ),
    );
    return server;
  }
}

/** Serves one request of a session, if it is part of one. */
class SessionServer extends Server {
  constructor(
    info: ConstructorParameters<typeof Server>[0],
    options: ConstructorParameters<typeof Server>[1],
    private readonly serving?: { session: McpSession; bus: McpSessionBus },
  ) {
    super(info, options);
  }

  override async connect(transport: Transport): Promise<void> {
    if (!this.serving) return super.connect(transport);
    const { session, bus } = this.serving;
    const wrapped = new SessionTransport(transport, session);
    const unregister = bus.register(session.id, wrapped);
    this.onclose = unregister;
    await super.connect(wrapped);
    wrapped.replayHandshake();
  }
}
