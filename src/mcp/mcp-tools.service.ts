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
import type { TenantId } from '../auth/tenant';
import type { ObjectSchema } from '../graphs/message-schemas';
import { afterCursor, nameTools, toCursor } from './tool-names';
import { toInputSchema, toOutputSchema } from './tool-schemas';

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
}

/** Every assistant of the tenant as a tool: its name, input and output. */
@Injectable()
export class McpToolsService {
  private readonly logger = new Logger(McpToolsService.name);
  private readonly validators = new AjvJsonSchemaValidator();
  /** Schemas by graph: they don't change while the process lives. */
  private readonly schemas = new Map<string, Promise<GraphSchemas>>();

  constructor(private readonly assistants: AssistantsService) {}

  /** A page of tools, default assistants first. @throws {ProtocolError} -32602 for an invalid cursor */
  async list(tenantId: TenantId, cursor: string | undefined): Promise<{ tools: Tool[]; nextCursor?: string }> {
    const isAfter = cursor === undefined ? () => true : afterCursor(cursor);
    if (!isAfter) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor');
    const rest = [...(await this.named(tenantId))].filter(([, assistant]) => isAfter(assistant));
    const page = rest.slice(0, PAGE);
    const tools = await Promise.all(page.map(([name, assistant]) => this.describe(tenantId, name, assistant)));
    return {
      tools: tools.filter((tool) => tool !== undefined),
      ...(rest.length > PAGE && { nextCursor: toCursor(page[PAGE - 1][1]) }),
    };
  }

  /** @throws {ProtocolError} -32602 when there is no such tool */
  async get(tenantId: TenantId, name: string): Promise<AssistantTool> {
    const assistant = (await this.named(tenantId)).get(name);
    if (!assistant) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
    return { name, assistant, schemas: await this.schemasOf(tenantId, assistant) };
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
      if (items.length === 0 || assistants.length >= total) return nameTools(assistants);
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

  private schemasOf(tenantId: TenantId, { graphId, assistantId }: AssistantEntity): Promise<GraphSchemas> {
    const known = this.schemas.get(graphId);
    if (known) return known;
    const schemas = this.readSchemas(tenantId, assistantId);
    this.schemas.set(graphId, schemas);
    schemas.catch(() => this.schemas.delete(graphId));
    return schemas;
  }

  private async readSchemas(tenantId: TenantId, assistantId: string): Promise<GraphSchemas> {
    const declared = JSON.parse(await this.assistants.schemas(tenantId, assistantId)) as Record<
      'input_schema' | 'output_schema',
      unknown
    >;
    const input = toInputSchema(declared.input_schema);
    const output = toOutputSchema(declared.output_schema);
    return {
      input,
      output,
      graphInput: declared.input_schema,
      checkInput: this.validatorOf(input),
      checkOutput: output && this.validatorOf(output),
    };
  }

  private validatorOf(schema: ObjectSchema): JsonSchemaValidator<unknown> {
    return this.validators.getValidator(schema as JsonSchemaType);
  }
}
