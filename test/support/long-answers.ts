import type { OpenStreams } from '../../src/http/open-streams';
import type { TestApi } from './api';
import { postMcp } from './mcp';

/** No worker executes the run: it stays pending as long as it isn't cancelled. */
const RUN = { assistant_id: 'three', input: {}, on_disconnect: 'cancel' };
const MESSAGE = { role: 'user', parts: [{ kind: 'data', data: {} }], messageId: 'm', kind: 'message' };
const toolCall = (params: object = {}): object => ({
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name: 'three', arguments: {}, ...params },
});
const ACCEPT = { accept: 'application/json, text/event-stream' };
const MODERN = 'io.modelcontextprotocol';

export interface LongRequest {
  path: string;
  method?: 'GET';
  body?: unknown;
  headers?: Record<string, string>;
}

export interface LongAnswer {
  of: (thread: string) => LongRequest;
  /** Whether the request makes a run, and the run ends when its client goes. */
  run?: 'cancelled' | 'kept';
  isSession?: boolean;
}

/** Every kind of HTTP answer that stays open: streams, and results that are waited for. */
export const LONG_ANSWERS: [string, LongAnswer][] = [
  ["a new run's stream", { of: (thread) => ({ path: `/threads/${thread}/runs/stream`, body: RUN }), run: 'cancelled' }],
  ['a wait for a new run', { of: (thread) => ({ path: `/threads/${thread}/runs/wait`, body: RUN }), run: 'cancelled' }],
  ["a thread's stream", { of: (thread) => ({ path: `/threads/${thread}/stream`, method: 'GET' }) }],
  [
    'a stream of the event protocol',
    { of: (thread) => ({ path: `/threads/${thread}/stream/events`, body: { channels: ['values'] } }) },
  ],
  [
    "an agent's stream (A2A)",
    {
      of: () => ({
        path: '/a2a/three',
        body: { jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message: MESSAGE } },
      }),
      run: 'kept',
    },
  ],
  [
    'a tool call (MCP 2025-11-25)',
    { of: () => ({ path: '/mcp', body: toolCall(), headers: ACCEPT }), run: 'kept', isSession: true },
  ],
  [
    'a tool call (MCP 2026-07-28)',
    {
      of: () => ({
        path: '/mcp',
        body: toolCall({
          _meta: { [`${MODERN}/protocolVersion`]: '2026-07-28', [`${MODERN}/clientCapabilities`]: {} },
        }),
        headers: { ...ACCEPT, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'three' },
      }),
      run: 'cancelled',
    },
  ],
];

export type Credentials = Record<string, string>;

export async function sendLong(
  { url }: TestApi,
  credentials: Credentials,
  request: LongRequest,
  signal?: AbortSignal,
): Promise<Response> {
  const { path, method = 'POST', body, headers } = request;
  return fetch(url + path, {
    method,
    headers: { ...credentials, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
}

/** The request for an answer of this kind, on a new thread and in a new session where it needs them. */
export async function longRequest(api: TestApi, credentials: Credentials, kind: LongAnswer): Promise<LongRequest> {
  const asked = kind.of(await newThread(api, credentials));
  if (!kind.isSession) return asked;
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  const { headers } = await postMcp(api.url, initialize, credentials);
  return { ...asked, headers: { ...asked.headers, 'mcp-session-id': headers.get('mcp-session-id')! } };
}

export async function newThread(api: TestApi, credentials: Credentials): Promise<string> {
  const response = await sendLong(api, credentials, { path: '/threads', body: {} });
  return ((await response.json()) as { thread_id: string }).thread_id;
}

/** End of an answer that is cut off. */
export const endOf = (answer: Promise<Response>): Promise<string> =>
  answer
    .then((response) => response.text())
    .then(
      (text) => `answered: ${text}`,
      () => 'broken off',
    );

/** Streams and waits that are open on this api. */
export const openOn = ({ app }: TestApi): number => {
  const { openStreams } = app.getHttpAdapter().getInstance() as unknown as { openStreams: OpenStreams };
  return openStreams.count('events') + openStreams.count('wait');
};
