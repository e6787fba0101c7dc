import type { Endpoint, Exchange } from './exchange';
import { newId, pieces, sendJson, startEvents, textOf, words } from './exchange';
import type { Answer, JsonSchema, Prompt, Turn } from './script';

interface Block {
  type: string;
  text?: string;
  content?: unknown;
}

interface MessagesRequest {
  model: string;
  stream?: boolean;
  system?: unknown;
  messages: { role: 'user' | 'assistant'; content: string | Block[] }[];
  tools?: { name: string; input_schema?: JsonSchema }[];
  tool_choice?: { type: string; name?: string };
}

const USAGE = { input_tokens: 3, output_tokens: 2 };

/** `POST /v1/messages` of Anthropic, streamed and whole. */
export const messages: Endpoint = async (exchange) => {
  const body = exchange.body as MessagesRequest;
  const answer = exchange.ask(promptOf(body));
  const content = contentOf(answer);
  const stop_reason = 'text' in answer ? 'end_turn' : 'tool_use';
  const message = {
    ...{ id: newId('msg'), type: 'message', role: 'assistant', model: body.model },
    ...{ content: [] as object[], stop_reason: null, stop_sequence: null, usage: USAGE },
  };
  if (!body.stream) {
    sendJson(exchange.response, { ...message, content, stop_reason });
    return;
  }
  await stream(exchange, message, content, stop_reason);
};

function promptOf({ system, messages, tools = [], tool_choice }: MessagesRequest): Prompt {
  const forcedTool = tool_choice?.type === 'tool' ? tool_choice.name : undefined;
  return {
    turns: [{ role: 'system', text: textOf(system) }, ...messages.flatMap(turnsOf)],
    tools: tools.map(({ name }) => name),
    schema: tools.find(({ name }) => name === forcedTool)?.input_schema,
    forcedTool,
  };
}

/** Results of tools are blocks of the user's messages. */
function turnsOf({ role, content }: MessagesRequest['messages'][number]): Turn[] {
  const blocks: Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const results = blocks.filter(({ type }) => type === 'tool_result');
  const others = blocks.filter(({ type }) => type !== 'tool_result');
  return [
    ...results.map((block): Turn => ({ role: 'tool', text: textOf(block.content) })),
    ...(others.length > 0 ? [{ role, text: textOf(others) }] : []),
  ];
}

type Content = { type: 'text'; text: string } | { type: 'tool_use'; id: string; name: string; input: unknown };

function contentOf(answer: Answer): Content[] {
  if ('text' in answer) return [{ type: 'text', text: answer.text }];
  return answer.calls.map(({ name, args }) => ({
    ...{ type: 'tool_use', id: newId('toolu'), name, input: JSON.parse(args) as unknown },
  }));
}

async function stream(
  { response, next }: Exchange,
  message: object,
  content: Content[],
  stop_reason: string,
): Promise<void> {
  const send = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  startEvents(response);
  send('message_start', { message });
  for (const [index, block] of content.entries()) {
    if (block.type === 'text') {
      send('content_block_start', { index, content_block: { ...block, text: '' } });
      for (const text of words(block.text)) {
        send('content_block_delta', { index, delta: { type: 'text_delta', text } });
        await next();
      }
    } else {
      send('content_block_start', { index, content_block: { ...block, input: {} } });
      for (const partial_json of pieces(JSON.stringify(block.input)))
        send('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } });
    }
    send('content_block_stop', { index });
  }
  send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 2 } });
  send('message_stop', {});
  response.end();
}
