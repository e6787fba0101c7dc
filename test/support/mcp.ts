import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

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
  // Patient with a server that is away for a moment.
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

export interface RpcAnswer {
  status: number;
  headers: Headers;
  /** Messages of the body, alone or as events of a stream. */
  messages: { id?: unknown; result?: Record<string, unknown>; error?: { code: number; message: string } }[];
}

/** One request by hand, with the headers that a client of 2025-11-25 sends unless others are given. */
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
