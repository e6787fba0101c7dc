import type { Endpoint, Exchange } from './exchange';
import { newId, pieces, sendJson, startEvents, textOf, words } from './exchange';
import type { Answer, JsonSchema, Prompt, Turn } from './script';

interface Item {
  type?: string;
  role?: string;
  content?: unknown;
  output?: unknown;
}

interface ResponsesRequest {
  model: string;
  stream?: boolean;
  instructions?: string;
  input: string | Item[];
  tools?: { type: string; name: string; parameters?: JsonSchema }[];
  tool_choice?: string | { type: string; name?: string };
  text?: { format?: { schema?: JsonSchema } };
}

/** `POST /v1/responses` of OpenAI, streamed and whole. */
export const responses: Endpoint = async (exchange) => {
  const body = exchange.body as ResponsesRequest;
  const answer = exchange.ask(promptOf(body));
  const response = {
    id: newId('resp'),
    object: 'response',
    created_at: 1,
    model: body.model,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    output: [],
    tools: body.tools ?? [],
  };
  const output = itemsOf(answer);
  const usage = {
    ...{ input_tokens: 3, output_tokens: 2, total_tokens: 5 },
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const done = { ...response, status: 'completed', output, usage };
  if (body.stream) await stream(exchange, response, output, done);
  else sendJson(exchange.response, done);
};

function promptOf({ instructions, input, tools = [], tool_choice, text }: ResponsesRequest): Prompt {
  const items: Item[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const forcedTool = typeof tool_choice === 'object' ? tool_choice.name : undefined;
  return {
    turns: [...(instructions ? [{ role: 'system' as const, text: instructions }] : []), ...items.map(turnOf)],
    tools: tools.map(({ name }) => name),
    schema: text?.format?.schema ?? tools.find(({ name }) => name === forcedTool)?.parameters,
    forcedTool,
  };
}

function turnOf({ type, role, content, output }: Item): Turn {
  if (type === 'function_call_output') return { role: 'tool', text: textOf(output) };
  if (role === 'user' || role === 'assistant') return { role, text: textOf(content) };
  return { role: role ? 'system' : 'assistant', text: textOf(content) };
}

type OutputItem =
  | { type: 'message'; id: string; role: 'assistant'; status: 'completed'; content: [TextPart] }
  | { type: 'function_call'; id: string; call_id: string; name: string; arguments: string; status: 'completed' };

interface TextPart {
  type: 'output_text';
  text: string;
  annotations: never[];
}

function itemsOf(answer: Answer): OutputItem[] {
  const status = 'completed';
  if ('text' in answer) {
    const part: TextPart = { type: 'output_text', text: answer.text, annotations: [] };
    return [{ type: 'message', id: newId('msg'), role: 'assistant', status, content: [part] }];
  }
  return answer.calls.map(({ name, args }) => ({
    ...{ type: 'function_call', id: newId('fc'), call_id: newId('call'), name, arguments: args, status },
  }));
}

async function stream({ response, next }: Exchange, begun: object, output: OutputItem[], done: object): Promise<void> {
  let sequence_number = 0;
  const send = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...data })}\n\n`);
    sequence_number += 1;
  };
  startEvents(response);
  send('response.created', { response: begun });
  for (const [output_index, item] of output.entries()) {
    const at = { item_id: item.id, output_index };
    if (item.type === 'message') {
      const [part] = item.content;
      send('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', content: [] } });
      send('response.content_part.added', { ...at, content_index: 0, part: { ...part, text: '' } });
      for (const delta of words(part.text)) {
        send('response.output_text.delta', { ...at, content_index: 0, delta });
        await next();
      }
      send('response.output_text.done', { ...at, content_index: 0, text: part.text });
      send('response.content_part.done', { ...at, content_index: 0, part });
    } else {
      send('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', arguments: '' } });
      for (const delta of pieces(item.arguments)) send('response.function_call_arguments.delta', { ...at, delta });
      send('response.function_call_arguments.done', { ...at, name: item.name, arguments: item.arguments });
    }
    send('response.output_item.done', { output_index, item });
  }
  send('response.completed', { response: done });
  response.end();
}
