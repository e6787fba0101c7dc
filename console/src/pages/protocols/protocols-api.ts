import { queryOptions } from '@tanstack/react-query';
import { request } from '../../api/client';
import { getJson, sendJson } from '../../api/json';

/** Fields of an agent's card that the pages show. */
export interface AgentCard {
  name: string;
  description: string;
  version: string;
  skills: { id: string; name: string; description: string }[];
}

export interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Record<string, unknown>;
}

export interface ToolResult {
  isError?: boolean;
  content: { type: string; text?: string }[];
  structuredContent?: unknown;
}

/** An id of requests and messages. `crypto.randomUUID` is missing on addresses without TLS. */
const newId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

const MCP_VERSION = '2025-06-18';

/** The message of a JSON answer, or the last message of an event stream. The server decides which of the two it sends. */
function messageOf(type: string | null, text: string): unknown {
  if (!type?.startsWith('text/event-stream')) return JSON.parse(text);
  const data = text.split('\n').filter((line) => line.startsWith('data: {'));
  return JSON.parse(data.at(-1)?.slice('data: '.length) ?? '{}');
}

async function mcp<Result>(method: string, params: object): Promise<Result> {
  const response = await request('/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MCP_VERSION,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: newId(), method, params }),
  });
  const answer = messageOf(response.headers.get('content-type'), await response.text());
  const { result, error } = answer as { result?: Result; error?: { message: string } };
  if (error || result === undefined) throw new Error(error?.message ?? 'The answer has no result.');
  return result;
}

export const toolsQuery = queryOptions({
  queryKey: ['mcp', 'tools'],
  queryFn: async () => {
    const tools: Tool[] = [];
    let cursor: string | undefined;
    do {
      const page = await mcp<{ tools: Tool[]; nextCursor?: string }>('tools/list', cursor ? { cursor } : {});
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor);
    return tools;
  },
});

export const callTool = (name: string, input: unknown) =>
  mcp<ToolResult>('tools/call', { name, arguments: input ?? {} });

export const cardQuery = (assistantId: string) =>
  queryOptions({
    queryKey: ['a2a', 'card', assistantId],
    queryFn: () => getJson<AgentCard>(`/a2a/${assistantId}`),
    enabled: assistantId !== '',
  });

/** Sends a text to an agent and waits for the end of its task. */
export async function sendToAgent(assistantId: string, text: string): Promise<unknown> {
  const answer = await sendJson<{ result?: unknown; error?: { message: string } }>(
    'POST',
    `/a2a/${assistantId}`,
    {
      jsonrpc: '2.0',
      id: newId(),
      method: 'SendMessage',
      params: { message: { messageId: newId(), role: 'ROLE_USER', parts: [{ text }] } },
    },
    { 'a2a-version': '1.0' },
  );
  if (answer.error) throw new Error(answer.error.message);
  return answer.result;
}
