import { Injectable } from '@nestjs/common';
import {
  type McpRequestContext,
  SdkError,
  type Server,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import type { OpenAnswer } from '../http/open-answer';
import { McpCallsService } from './mcp-calls.service';
import type { McpSession, SessionOwner } from './mcp-session';
import { McpPromptsService } from './mcp-prompts.service';
import { McpResourcesService } from './mcp-resources.service';
import { McpSessionBus } from './mcp-session-bus';
import { McpToolsService } from './mcp-tools.service';
import { SessionServer } from './session-server';
import { McpTasksService } from './tasks/mcp-tasks.service';
import { serveTasks } from './tasks/serve-tasks';
import { TASKS_EXTENSION } from './tasks/task-wire';

/** A person answers: the protocol's minute is too short. Kept below what proxies and clients hold a stream open for. */
const ANSWER_MS = 3_600_000;
/** Questions that one call of the older revisions may ask, one after the other. */
const MAX_ROUNDS = 50;
/** Assistants are created and renamed any time: clients ask again after a minute. */
const LIST_TTL_MS = 60_000;

/** Revision from which on results have structured content. */
const STRUCTURE_SINCE = '2025-06-18';
/** The older revisions have no stream on which a list could be said to have changed, and other tasks. */
const MODERN_CAPABILITIES = { tools: { listChanged: true }, extensions: { [TASKS_EXTENSION]: {} } };

/** Caller of a request, and the answer that is written to it. */
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
    private readonly tasks: McpTasksService,
    private readonly prompts: McpPromptsService,
    private readonly resources: McpResourcesService,
    private readonly bus: McpSessionBus,
  ) {}

  /** Makes the end of a connection count as a lost connection, and not as a cancellation by the client. */
  close(): void {
    this.closing = true;
  }

  create({ tenantId, answer }: HttpCaller, era: McpRequestContext['era'], session?: McpSession): Server {
    const isModern = era === 'modern';
    const server = new SessionServer(
      { name: 'gantry', title: 'Gantry', version: this.config.version },
      {
        capabilities: {
          ...(isModern ? MODERN_CAPABILITIES : { tools: {} }),
          ...(this.prompts.areDeclared && { prompts: {} }),
          ...(this.resources.areDeclared && { resources: {} }),
        },
        instructions: 'Every tool runs an agent. A run may take long and may ask back.',
        supportedProtocolVersions: [...SUPPORTED_PROTOCOL_VERSIONS],
        cacheHints: { 'tools/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' } },
        requestState: { verify: (state, context) => this.calls.states.verify(state, context) },
        inputRequired: { maxRounds: MAX_ROUNDS, roundTimeoutMs: ANSWER_MS },
      },
      session && { session, bus: this.bus },
    );
    server.setRequestHandler('tools/list', ({ params }) => this.tools.listTools(tenantId, params?.cursor));
    server.setRequestHandler('tools/call', ({ params }, context) =>
      this.calls.call(
        {
          tenantId,
          era,
          capabilities: server.getClientCapabilities(),
          knowsStructure: isModern || knowsStructure(session),
          isCancelled: (signal) =>
            !this.closing && !answer.isBrokenOff && (isModern || !(signal.reason instanceof SdkError)),
        },
        params,
        context,
      ),
    );
    if (isModern) serveTasks(server, tenantId, this.tasks);
    if (this.prompts.areDeclared) this.prompts.serve(server);
    if (this.resources.areDeclared) this.resources.serve(server, tenantId);
    return server;
  }
}

/** Whether the client knows structured results. Without a session its revision is unknown, and it counts as too old. */
function knowsStructure(session: McpSession | undefined): boolean {
  return session !== undefined && session.protocolVersion >= STRUCTURE_SINCE;
}
