import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { waitFor } from './wait-for';

export const ERAS = ['2025-11-25', '2026-07-28'] as const;
export type Era = (typeof ERAS)[number];

export interface McpClientOptions {
  era: Era;
  capabilities?: ClientCapabilities;
  headers?: Record<string, string>;
}

/** The public client, connected, in either generation of the protocol. */
export async function connectMcp(url: string, options: McpClientOptions): Promise<Client> {
  const { era, capabilities = {}, headers = {} } = options;
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, ...(era === '2026-07-28' && { versionNegotiation: { mode: { pin: era } } }) },
  );
  // Retries while a server is restarting.
  const reconnectionOptions = {
    initialReconnectionDelay: 500,
    maxReconnectionDelay: 2_000,
    reconnectionDelayGrowFactor: 1.5,
    maxRetries: 30,
  };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers }, reconnectionOptions }),
  );
  return client;
}

/** A hand-written client of 2026-07-28, for the methods of extensions that the public ones lack. */
export class ModernCaller {
  constructor(
    private readonly url: string,
    private readonly capabilities: object = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
    private readonly headers: Record<string, string> = {},
  ) {}

  /** @throws what the protocol's error says, its code first */
  async request(method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': this.capabilities,
    };
    const { messages } = await postMcp(
      this.url,
      { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
      {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': String(params.name ?? params.taskId),
        ...this.headers,
      },
    );
    const { result, error } = messages.at(-1)!;
    if (error) throw new Error(`${error.code} ${error.message}`);
    return result!;
  }

  call(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    return this.request('tools/call', { name, arguments: args });
  }

  /** The task once its status is one of these. */
  task(taskId: unknown, ...statuses: string[]): Promise<Record<string, unknown>> {
    return waitFor(`a task that is ${statuses.join(' or ')}`, async () => {
      const task = await this.request('tasks/get', { taskId });
      return statuses.includes(task.status as string) && task;
    });
  }
}

export interface RpcAnswer {
  status: number;
  headers: Headers;
  /** Messages of the body, alone or as events of a stream. */
  messages: { id?: unknown; result?: Record<string, unknown>; error?: { code: number; message: string } }[];
}

/** One hand-written request, with the headers of a client of 2025-11-25 unless others are given. */
export async function postMcp(url: string, body: unknown, headers: Record<string, string> = {}): Promise<RpcAnswer> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  const parts = isStream
    ? text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
    : [text];
  const messages = parts.filter((part) => part !== '').map((part) => JSON.parse(part) as RpcAnswer['messages'][number]);
  return { status: response.status, headers: response.headers, messages };
}
