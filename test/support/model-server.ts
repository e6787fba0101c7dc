import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ChatMessage {
  role: string;
  content: string | { text?: string }[] | null;
}

interface ChatRequest {
  model: string;
  stream?: boolean;
  messages: ChatMessage[];
  tools?: { function: { name: string } }[];
}

interface Call {
  name: string;
  args: string;
}

/** What the model answers: words, or calls of tools. */
type Answer = { text: string } | { calls: Call[] };

/** A model behind OpenAI's HTTP API (chat completions, streamed and whole) that does as it is told. */
export class ModelServer {
  readonly requests: ChatRequest[] = [];
  private readonly server = createServer((request, response) => {
    this.answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  static async start(): Promise<ModelServer> {
    const model = new ModelServer();
    await new Promise<void>((resolve) => model.server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  /** What a process needs to find it. */
  get env(): Record<string, string> {
    const { port } = this.server.address() as AddressInfo;
    return { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (request.url !== '/v1/chat/completions') {
      response.writeHead(404).end();
      return;
    }
    const body = JSON.parse(Buffer.concat(pieces).toString()) as ChatRequest;
    this.requests.push(body);
    const answer = answerTo(body);
    if (body.stream) stream(response, body.model, answer);
    else whole(response, body.model, answer);
  }
}

/**
 * `call <tool> {…}` in the user's last words calls it, each line one, and as often in a row as `times <n>` says; the result of
 * a tool is repeated, other words are too.
 */
function answerTo({ messages, tools = [] }: ChatRequest): Answer {
  const last = messages.at(-1)!;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const text = textOf(messages[asked]);
  const results = messages.slice(asked).filter(({ role }) => role === 'tool').length;
  const times = Number(/^times (\d+)$/m.exec(text)?.[1] ?? 1);
  if (last.role === 'tool' && results >= times) return { text: `The tool says: ${textOf(last)}` };
  const offered = new Set(tools.map(({ function: { name } }) => name));
  const calls = [...text.matchAll(/^call (\w+) (\{.*\})$/gm)]
    .map(([, name, args]) => ({ name, args }))
    .filter(({ name }) => offered.has(name));
  return calls.length > 0 ? { calls } : { text: `You said: ${text}` };
}

function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text = '' }) => text).join('');
}

let calls = 0;
const callId = (): string => `call_${++calls}`;

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

function whole(response: ServerResponse, model: string, answer: Answer): void {
  const message =
    'text' in answer
      ? { role: 'assistant', content: answer.text }
      : {
          role: 'assistant',
          content: null,
          tool_calls: answer.calls.map(({ name, args }) => ({
            id: callId(),
            type: 'function',
            function: { name, arguments: args },
          })),
        };
  const finish_reason = 'text' in answer ? 'stop' : 'tool_calls';
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      ...{ id: `chatcmpl-${++calls}`, object: 'chat.completion', created: 1, model, usage: USAGE },
      choices: [{ index: 0, message, finish_reason }],
    }),
  );
}

function stream(response: ServerResponse, model: string, answer: Answer): void {
  const head = { id: `chatcmpl-${++calls}`, object: 'chat.completion.chunk', created: 1, model };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta: object, finish_reason: string | null = null): void => {
    response.write(`data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  };
  send({ role: 'assistant', content: '' });
  if ('text' in answer) {
    for (const word of answer.text.split(/(?<= )/)) send({ content: word });
  } else {
    answer.calls.forEach(({ name, args }, index) => {
      send({ tool_calls: [{ index, id: callId(), type: 'function', function: { name, arguments: '' } }] });
      // Arguments come in pieces.
      for (const piece of args.match(/.{1,8}/gs) ?? [])
        send({ tool_calls: [{ index, function: { arguments: piece } }] });
    });
  }
  send({}, 'text' in answer ? 'stop' : 'tool_calls');
  response.write(`data: ${JSON.stringify({ ...head, choices: [], usage: USAGE })}\n\n`);
  response.end('data: [DONE]\n\n');
}
