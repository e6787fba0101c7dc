import { Injectable } from '@nestjs/common';
import {
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from '@modelcontextprotocol/server';
import { fillIn, type GraphPrompt } from '../config/graph-mcp';
import { GraphRegistry } from '../graphs/graph-registry';

/** The prompts that graphs declare in langgraph.json, which are the same for all tenants. */
@Injectable()
export class McpPromptsService {
  private readonly prompts: ReadonlyMap<string, GraphPrompt>;

  constructor(registry: GraphRegistry) {
    const declared = registry.graphs.flatMap(({ mcp }) => mcp?.prompts ?? []);
    this.prompts = new Map(declared.map((prompt) => [prompt.name, prompt]));
  }

  /** Whether any graph declares a prompt: otherwise the capability isn't declared. */
  get areDeclared(): boolean {
    return this.prompts.size > 0;
  }

  /** Lets a server answer the methods for prompts. */
  serve(server: Server): void {
    server.setRequestHandler('prompts/list', () => ({ prompts: this.list() }));
    server.setRequestHandler('prompts/get', ({ params }) =>
      this.get(params.name, new Map(Object.entries(params.arguments ?? {}))),
    );
  }

  private list(): Prompt[] {
    return [...this.prompts.values()].map(({ messages: _, ...prompt }) => prompt);
  }

  /** @throws {ProtocolError} -32602 for an unknown prompt, and where a required argument is absent */
  private get(name: string, values: ReadonlyMap<string, string>): GetPromptResult {
    const prompt = this.prompts.get(name);
    if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`);
    const missing = prompt.arguments.find((each) => each.required && !values.get(each.name));
    if (missing) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `arguments.${missing.name}: is required by ${name}`);
    }
    return {
      ...(prompt.description !== undefined && { description: prompt.description }),
      messages: prompt.messages.map(({ role, content }) => ({
        role,
        content: { type: 'text', text: fillIn(content, values) },
      })),
    };
  }
}
