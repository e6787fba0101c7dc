import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { AssistantEntity } from '../assistants/assistant.entity';
import { AssistantsService } from '../assistants/assistants.service';
import { SchemasCache } from '../assistants/schemas-cache';
import type { TenantId } from '../auth/tenant';
import { GraphHosts } from '../graphs/host/graph-hosts';

/** An assistant as an agent: its inputs and the forms of its answers. */
export interface Agent {
  tenantId: TenantId;
  assistant: AssistantEntity;
  /** Whether it talks: its input has `messages`. */
  talks: boolean;
  /** Names of its input fields. */
  fields: string[];
  inputSchema: unknown;
  outputSchema: unknown;
  inputModes: string[];
  outputModes: string[];
  /** Whether its schemas are still being read. */
  isProvisional: boolean;
  /** Whether a turn that ends at once is answered with a message instead of a task. */
  repliesPlainly: boolean;
}

/** Section of an assistant's metadata about it as an agent. */
interface AgentMetadata {
  input_modes?: unknown;
  output_modes?: unknown;
  reply?: unknown;
}

interface GraphDescription {
  fields: string[];
  inputSchema: unknown;
  outputSchema: unknown;
}

/** How long an agent's description waits for schemas that are being read from types. */
const PATIENCE_MS = 1_500;
const TEXT_MODES = ['text/plain', 'application/json'];
/** Media types that models accept. An assistant whose model accepts fewer declares them in its metadata. */
const FILE_MODES = [
  'text/markdown',
  'text/csv',
  'text/html',
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'audio/wav',
  'audio/mpeg',
  'application/pdf',
];

/** Looks assistants up as agents. A graph's code doesn't change while a process lives, so its inputs are read once. */
@Injectable()
export class A2aAgentsService {
  private readonly schemas: SchemasCache<GraphDescription>;

  constructor(
    private readonly assistants: AssistantsService,
    graphs: GraphHosts,
  ) {
    this.schemas = new SchemasCache(graphs);
  }

  /** @throws {ApiError} 404 for an unknown assistant or graph, 400 if its graph can't be loaded */
  async getAgent(tenantId: TenantId, idOrGraph: string): Promise<Agent> {
    const assistant = await this.assistants.getAssistant(tenantId, idOrGraph);
    const description = await this.describe(tenantId, assistant);
    const talks = description.fields.includes('messages');
    const modes = assistant.metadata.a2a as AgentMetadata | null | undefined;
    return {
      tenantId,
      assistant,
      talks,
      ...description,
      inputModes: modesOr(modes?.input_modes, talks ? [...TEXT_MODES, ...FILE_MODES] : ['application/json']),
      outputModes: modesOr(modes?.output_modes, talks ? TEXT_MODES : [...TEXT_MODES].reverse()),
      repliesPlainly: modes?.reply === 'message',
    };
  }

  /** Reading schemas from types takes seconds, and is done once: until then an agent is known by its channels. */
  private async describe(
    tenantId: TenantId,
    assistant: AssistantEntity,
  ): Promise<GraphDescription & { isProvisional: boolean }> {
    const { assistantId } = assistant;
    const asked = this.schemas.get(tenantId, assistant, () => this.ask(tenantId, assistantId));
    const known = await Promise.race([asked, sleep(PATIENCE_MS, undefined, { ref: false })]);
    if (known) return { ...known, isProvisional: false };
    const fields = await this.assistants.fields(tenantId, assistantId);
    return { fields, inputSchema: null, outputSchema: null, isProvisional: true };
  }

  private async ask(tenantId: TenantId, assistantId: string): Promise<GraphDescription> {
    const schemas = JSON.parse(await this.assistants.schemas(tenantId, assistantId)) as {
      input_schema: { properties?: Record<string, unknown> } | null;
      output_schema: unknown;
    };
    const declared = schemas.input_schema?.properties;
    const fields = declared ? Object.keys(declared) : await this.assistants.fields(tenantId, assistantId);
    return { fields, inputSchema: schemas.input_schema, outputSchema: schemas.output_schema };
  }
}

function modesOr(declared: unknown, otherwise: string[]): string[] {
  const isList = Array.isArray(declared) && declared.length > 0 && declared.every((mode) => typeof mode === 'string');
  return isList ? (declared as string[]) : otherwise;
}
