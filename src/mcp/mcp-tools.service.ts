import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import {
  type JsonSchemaType,
  type JsonSchemaValidator,
  ProtocolError,
  ProtocolErrorCode,
  type Tool,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { AssistantEntity } from '../assistants/assistant.entity';
import { AssistantsService } from '../assistants/assistants.service';
import { SchemasCache } from '../assistants/schemas-cache';
import type { TenantId } from '../auth/tenant';
import { type GraphMcp, graphMcpSchema } from '../config/graph-mcp';
import { GraphRegistry } from '../graphs/graph-registry';
import { GraphHosts } from '../graphs/host/graph-hosts';
import { isJsonObject } from '../database/json';
import type { ObjectSchema } from '../graphs/message-schemas';
import { afterCursor, nameTools, toCursor } from './tool-names';
import { toInputSchema, toOutputSchema, undeclaredInput } from './tool-schemas';

/** How long a list waits for schemas that are being read from types. */
const PATIENCE_MS = 1_500;
/** How long a list may be kept that lacks some of them. */
const LATE_TTL_MS = 2_000;
const PAGE = 100;
/** Assistants that one query reads. */
const BATCH = 1000;

interface GraphSchemas {
  input: ObjectSchema;
  output: ObjectSchema | undefined;
  /** JSON schema of the input as the graph declares it. */
  graphInput: unknown;
  checkInput: JsonSchemaValidator<unknown>;
  checkOutput: JsonSchemaValidator<unknown> | undefined;
}

/** An assistant that can be called. */
export interface AssistantTool {
  name: string;
  assistant: AssistantEntity;
  schemas: GraphSchemas;
  mcp: GraphMcp;
}

/** Every assistant of the tenant as a tool: its name, input and output. */
@Injectable()
export class McpToolsService {
  private readonly logger = new Logger(McpToolsService.name);
  private validators: AjvJsonSchemaValidator | undefined;
  private readonly listeners: (() => void)[] = [];
  /** Graphs that were described without their schemas, since these were being read. */
  private readonly late = new Set<string>();
  private readonly schemas: SchemasCache<GraphSchemas>;

  private readonly isDefault = (assistantId: string): boolean => this.registry.isSystemAssistant(assistantId);

  constructor(
    private readonly assistants: AssistantsService,
    private readonly registry: GraphRegistry,
    graphs: GraphHosts,
  ) {
    this.schemas = new SchemasCache(graphs);
  }

  /** Calls when tools are described otherwise than they were. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** A page of tools, default assistants first. @throws {ProtocolError} -32602 for a cursor that is none of ours */
  async listTools(
    tenantId: TenantId,
    cursor: string | undefined,
  ): Promise<{ tools: Tool[]; nextCursor?: string; ttlMs?: number }> {
    const isAfter = cursor === undefined ? () => true : afterCursor(cursor, this.isDefault);
    if (!isAfter) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor');
    const rest = [...(await this.named(tenantId))].filter(([, assistant]) => isAfter(assistant));
    const page = rest.slice(0, PAGE);
    const tools = await Promise.all(page.map(([name, assistant]) => this.describe(tenantId, name, assistant)));
    return {
      tools: tools.filter((tool) => tool !== undefined),
      ...(this.late.size > 0 && { ttlMs: LATE_TTL_MS }),
      ...(rest.length > PAGE && { nextCursor: toCursor(page[PAGE - 1][1], this.isDefault) }),
    };
  }

  /** @throws {ProtocolError} -32602 when there is no such tool */
  async getTool(tenantId: TenantId, name: string): Promise<AssistantTool> {
    const assistant = (await this.named(tenantId)).get(name);
    if (!assistant) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
    return this.toTool(tenantId, name, assistant);
  }

  /** The tool that an assistant is, whatever it is called by now. @throws {ApiError} 404 when the assistant is gone */
  async ofAssistant(tenantId: TenantId, assistantId: string, name: string): Promise<AssistantTool> {
    return this.toTool(tenantId, name, await this.assistants.getAssistant(tenantId, assistantId));
  }

  private async toTool(tenantId: TenantId, name: string, assistant: AssistantEntity): Promise<AssistantTool> {
    const own = graphMcpSchema.safeParse(assistant.metadata.mcp);
    const mcp = { ...this.registry.mcpOf(assistant.graphId), ...(own.success && own.data) };
    return { name, assistant, schemas: await this.schemasOf(tenantId, assistant), mcp };
  }

  private async named(tenantId: TenantId): Promise<Map<string, AssistantEntity>> {
    const assistants: AssistantEntity[] = [];
    for (;;) {
      const { items, total } = await this.assistants.searchAssistants(tenantId, {
        limit: BATCH,
        offset: assistants.length,
        sort_by: 'created_at',
        sort_order: 'asc',
      });
      assistants.push(...items);
      if (items.length === 0 || assistants.length >= total) return nameTools(assistants, this.isDefault);
    }
  }

  /** Resolves to undefined for a graph that can't be served. */
  private async describe(tenantId: TenantId, name: string, assistant: AssistantEntity): Promise<Tool | undefined> {
    try {
      const { input, output } = await this.schemasOf(tenantId, assistant);
      return {
        name,
        title: assistant.name,
        description: assistant.description ?? `Runs the agent ${assistant.name}`,
        inputSchema: input as Tool['inputSchema'],
        ...(output && { outputSchema: output as Tool['outputSchema'] }),
        // The effects of a graph are unknown, so nothing is promised except that it isn't read-only.
        annotations: { title: assistant.name, readOnlyHint: false, openWorldHint: true },
        _meta: { 'gantry/assistant_id': assistant.assistantId, 'gantry/graph_id': assistant.graphId },
      };
    } catch (error) {
      this.logger.warn({ err: error, graph_id: assistant.graphId }, 'Not listed as a tool: its graph gives no schemas');
      return undefined;
    }
  }

  /**
   * The schemas that the graph declares. Reading them from its types takes seconds, and is done once: until then they are any
   * values under the names of its channels.
   */
  private async schemasOf(tenantId: TenantId, assistant: AssistantEntity): Promise<GraphSchemas> {
    const { graphId, assistantId } = assistant;
    const reading = this.schemas.get(tenantId, assistant, () => this.startReading(tenantId, graphId, assistantId));
    const known = await Promise.race([reading, sleep(PATIENCE_MS, undefined, { ref: false })]);
    if (known) return known;
    this.late.add(graphId);
    const fields = await this.assistants.fields(tenantId, assistantId);
    return this.toSchemas(undeclaredInput(fields), undefined);
  }

  private startReading(tenantId: TenantId, graphId: string, assistantId: string): Promise<GraphSchemas> {
    const reading = this.readSchemas(tenantId, assistantId);
    reading.then(
      () => {
        if (this.late.delete(graphId)) for (const listener of this.listeners) listener();
      },
      () => undefined,
    );
    return reading;
  }

  private async readSchemas(tenantId: TenantId, assistantId: string): Promise<GraphSchemas> {
    const declared = JSON.parse(await this.assistants.schemas(tenantId, assistantId)) as Record<
      'input_schema' | 'output_schema',
      unknown
    >;
    const { input_schema: declaredInput, output_schema: declaredOutput } = declared;
    const isDeclared = isJsonObject(declaredInput) && isJsonObject(declaredInput.properties);
    const graphInput = isDeclared
      ? declaredInput
      : undeclaredInput(await this.assistants.fields(tenantId, assistantId));
    return this.toSchemas(graphInput, declaredOutput);
  }

  private toSchemas(graphInput: unknown, graphOutput: unknown): GraphSchemas {
    const input = toInputSchema(graphInput);
    const output = toOutputSchema(graphOutput);
    return {
      input,
      output,
      graphInput,
      checkInput: this.validatorOf(input),
      checkOutput: output && this.validatorOf(output),
    };
  }

  private validatorOf(schema: ObjectSchema): JsonSchemaValidator<unknown> {
    this.validators ??= new AjvJsonSchemaValidator();
    return this.validators.getValidator(schema as JsonSchemaType);
  }
}
