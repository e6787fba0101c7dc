import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server';
import type { AppConfig } from '../config/config';
import type { TenantId } from '../auth/tenant';
import type { OpenAnswer } from '../http/open-answer';
import type { McpCallsService } from './mcp-calls.service';
import { McpServerFactory } from './mcp-server.factory';
import type { McpPromptsService } from './mcp-prompts.service';
import type { McpResourcesService } from './mcp-resources.service';
import type { McpSessionBus } from './mcp-session-bus';
import type { McpToolsService } from './mcp-tools.service';
import type { McpTasksService } from './tasks/mcp-tasks.service';

const unused = {} as never;
const calls = { states: { verify: () => undefined } } as unknown as McpCallsService;
const tools = {
  listTools: () => Promise.reject(Object.assign(new Error('[the password is x]'), { code: '23505' })),
} as unknown as McpToolsService;
const factory = new McpServerFactory(
  { version: '1' } as unknown as AppConfig,
  tools,
  calls,
  unused as McpTasksService,
  { areDeclared: false } as McpPromptsService,
  { areDeclared: false } as McpResourcesService,
  unused as McpSessionBus,
);

/** Answer of a server that lives for this request. */
async function answerTo(method: string, params: unknown): Promise<unknown> {
  const server = factory.create({ tenantId: 't' as TenantId, owner: unused, answer: unused as OpenAnswer }, 'legacy');
  const [client, transport] = InMemoryTransport.createLinkedPair();
  await server.connect(transport);
  try {
    return await new Promise((resolve) => {
      client.onmessage = resolve;
      void client.start().then(() => client.send({ jsonrpc: '2.0', id: 1, method, params } as JSONRPCMessage));
    });
  } finally {
    await server.close();
  }
}

describe('a server of MCP', () => {
  it.each([
    ['initialize', {}, 'params.protocolVersion: '],
    ['initialize', { protocolVersion: '2025-11-25', capabilities: 7, clientInfo: {} }, 'params.capabilities: '],
    ['tools/list', { cursor: 7 }, 'params.cursor: '],
    ['tools/call', { name: { toString: 1 } }, 'name'],
  ])('names the wrong parameter of %s: %j', async (method, params, named) => {
    const error = { code: -32602, message: expect.stringContaining(named) as string };
    expect(await answerTo(method, params)).toMatchObject({ id: 1, error });
  });

  it('shows nothing of an unexpected error', async () => {
    expect(await answerTo('tools/list', {})).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32603, message: 'Internal error' },
    });
  });
});
