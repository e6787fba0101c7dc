import type { Endpoint, Exchange } from './exchange';
import { newId, pieces, sendJson, startEvents, textOf, words } from './exchange';
import type { Answer, JsonSchema, Prompt, Turn } from './script';

interface ChatRequest {
  model: string;
  stream?: boolean;
  messages: { role: string; content: unknown }[];
  tools?: { function: { name: string; parameters?: JsonSchema } }[];
  tool_choice?: string | { function?: { name: string } };
  response_format?: { json_schema?: { schema: JsonSchema } };
}

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const ROLES: Record<string, Turn['role']> = { developer: 'system', function: 'tool' };

/** `POST /v1/chat/completions` of OpenAI, streamed and whole. */
export const chatCompletions: Endpoint = async (exchange) => {
  const body = exchange.body as ChatRequest;
  const answer = exchange.ask(promptOf(body));
  if (body.stream) await stream(exchange, body.model, answer);
  else whole(exchange, body.model, answer);
};

function promptOf({ messages, tools = [], tool_choice, response_format }: ChatRequest): Prompt {
  const forcedTool = typeof tool_choice === 'object' ? tool_choice.function?.name : undefined;
  const forced = tools.find((tool) => tool.function.name === forcedTool);
  return {
    turns: messages.map(({ role, content }) => ({
      role: ROLES[role] ?? (role as Turn['role']),
      text: textOf(content),
    })),
    tools: tools.map((tool) => tool.function.name),
    schema: response_format?.json_schema?.schema ?? forced?.function.parameters,
    forcedTool,
  };
}

function whole({ response }: Exchange, model: string, answer: Answer): void {
  const message =
    'text' in answer
      ? { role: 'assistant', content: answer.text }
      : {
          role: 'assistant',
          content: null,
          tool_calls: answer.calls.map(({ name, args }) => ({
            id: newId('call'),
            type: 'function',
            function: { name, arguments: args },
          })),
        };
  const finish_reason = 'text' in answer ? 'stop' : 'tool_calls';
  sendJson(response, {
    ...{ id: newId('chatcmpl'), object: 'chat.completion', created: 1, model, usage: USAGE },
    choices: [{ index: 0, message, finish_reason }],
  });
}

async function stream({ response, next }: Exchange, model: string, answer: Answer): Promise<void> {
  const head = { id: newId('chatcmpl'), object: 'chat.completion.chunk', created: 1, model };
  startEvents(response);
  const send = (delta: object, finish_reason: string | null = null): void => {
    response.write(`data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  };
  send({ role: 'assistant', content: '' });
  if ('text' in answer) {
    for (const word of words(answer.text)) {
      send({ content: word });
      await next();
    }
  } else {
    answer.calls.forEach(({ name, args }, index) => {
      send({ tool_calls: [{ index, id: newId('call'), type: 'function', function: { name, arguments: '' } }] });
      for (const piece of pieces(args)) send({ tool_calls: [{ index, function: { arguments: piece } }] });
    });
  }
  send({}, 'text' in answer ? 'stop' : 'tool_calls');
  response.write(`data: ${JSON.stringify({ ...head, choices: [], usage: USAGE })}\n\n`);
  response.end('data: [DONE]\n\n');
}
