import { createHash } from 'node:crypto';
import { AgentCard, type AgentInterface } from '@a2a-js/sdk';
import { type A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { Injectable } from '@nestjs/common';
import type { TenantId } from '../auth/tenant';
import { CustomAuth } from '../auth/custom/custom-auth';
import { AppConfig } from '../config/config';
import { GraphRegistry } from '../graphs/graph-registry';
import { MESSAGES, replaceMessages } from '../graphs/message-schemas';
import { type Agent, A2aAgentsService } from './a2a-agents.service';
import { A2aPushService } from './a2a-push.service';
import { RUN_EXTENSION } from './a2a-task.mapper';
import { securityOf } from './a2a-security';
import { a2aErrors } from './a2a.errors';
import { VERSIONS } from './a2a-version';
import { isJsonObject } from '../database/json';

/** The graph's input and output as JSON schemas, for which the protocol's skills have no field. */
export const SCHEMAS_EXTENSION = 'urn:gantry:a2a:graph-schemas:1';

const RUN = {
  uri: RUN_EXTENSION,
  description: "Ids of a task's assistant, thread and latest run, in its metadata",
  required: false,
};

export interface RenderedCard {
  json: string;
  etag: string;
  modified: Date;
  /** Whether the schemas in it are still being read. */
  isProvisional: boolean;
}

/** Agent cards: an assistant described as an agent. */
@Injectable()
export class A2aCardService {
  constructor(
    private readonly config: AppConfig,
    private readonly registry: GraphRegistry,
    private readonly agents: A2aAgentsService,
    private readonly push: A2aPushService,
    private readonly customAuth: CustomAuth,
  ) {}

  /**
   * The card in the form of a protocol version. Without a version, a client gets that of 0.3 with the interfaces of 1.0, which
   * clients of both versions read.
   * @param idOrGraph undefined for the agent of this server's well-known address
   * @throws {ApiError} 404; 400 when the request names no agent
   */
  async render(
    tenantId: TenantId,
    idOrGraph: string | undefined,
    version: string,
    baseUrl: string,
  ): Promise<RenderedCard> {
    const agent = await this.agents.getAgent(tenantId, idOrGraph ?? this.defaultAgent());
    const card = this.card(agent, baseUrl);
    const json = JSON.stringify(version === '1.0' ? AgentCard.toJSON(card) : await legacyCard(card));
    return {
      json,
      etag: `"${createHash('sha256').update(json).digest('base64url').slice(0, 22)}"`,
      modified: agent.assistant.updatedAt,
      isProvisional: agent.isProvisional,
    };
  }

  card(agent: Agent, baseUrl: string): AgentCard {
    const { assistant, inputModes, outputModes } = agent;
    const { assistantId, graphId, name, description, metadata } = assistant;
    const described = description ?? `${name}, an agent that runs the graph ${graphId}`;
    const url = `${baseUrl}/a2a/${assistantId}`;
    const own = metadata.a2a as { examples?: unknown } | undefined;
    return AgentCard.fromJSON({
      name,
      description: described,
      version: String(assistant.version),
      supportedInterfaces: [
        ...VERSIONS.map((protocolVersion) => ({ url, protocolBinding: 'JSONRPC', protocolVersion })),
        { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      ],
      capabilities: {
        streaming: true,
        pushNotifications: this.push.isOffered,
        extendedAgentCard: false,
        extensions: [...schemaExtension(agent), RUN],
      },
      ...securityOf(this.config.auth, this.customAuth.source),
      defaultInputModes: inputModes,
      defaultOutputModes: outputModes,
      skills: [
        {
          id: `${assistantId}-main`,
          name,
          description: agent.talks
            ? described
            : `${described.replace(/\s*\.?\s*$/, '')}. Input is data with the fields: ${agent.fields.join(', ')}`,
          tags: ['assistant', graphId],
          examples: Array.isArray(own?.examples) ? own.examples.filter((one) => typeof one === 'string') : [],
          inputModes,
          outputModes,
        },
      ],
    });
  }

  private defaultAgent(): string {
    const { graphs } = this.registry;
    const named = this.config.graphs.a2aAssistant ?? (graphs.length === 1 ? graphs[0].graphId : undefined);
    if (!named) throw a2aErrors.noAgentNamed();
    return named;
  }
}

function schemaExtension({ inputSchema, outputSchema }: Agent) {
  if (!inputSchema && !outputSchema) return [];
  return [
    {
      uri: SCHEMAS_EXTENSION,
      description: 'JSON schemas of the data that the agent takes and gives',
      required: false,
      params: { inputSchema: withShortMessages(inputSchema), outputSchema: withShortMessages(outputSchema) },
    },
  ];
}

/** Messages are described as text and files: their shapes would be most of the card. */
function withShortMessages(schema: unknown): unknown {
  return isJsonObject(schema) ? replaceMessages(schema, MESSAGES) : schema;
}

/** The library translates cards where it answers the 0.3 method that asks for one, and nowhere else that it lets us in. */
async function legacyCard(card: AgentCard): Promise<Record<string, unknown>> {
  const holder: Pick<A2ARequestHandler, 'getAuthenticatedExtendedAgentCard'> = {
    getAuthenticatedExtendedAgentCard: () => Promise.resolve(card),
  };
  const translator = new LegacyJsonRpcTransportHandler(holder as A2ARequestHandler);
  const call = { jsonrpc: '2.0', id: 1, method: 'agent/getAuthenticatedExtendedCard' };
  const answer = (await translator.handle(call, new ServerCallContext())) as { result?: Record<string, unknown> };
  const interfaces = (AgentCard.toJSON(card) as { supportedInterfaces: AgentInterface[] }).supportedInterfaces;
  return { ...answer.result, supportedInterfaces: interfaces };
}
