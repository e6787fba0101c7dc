import { randomUUID } from 'node:crypto';
import { SseReader } from './sse';

export interface RpcAnswer {
  jsonrpc: string;
  id: string | number | null;
  result?: unknown;
  error?: { code: number; message: string; data?: { '@type': string; [key: string]: unknown }[] };
}

export interface Task {
  id: string;
  contextId: string;
  status: { state: string; message?: Message; timestamp?: string };
  artifacts?: { artifactId: string; name?: string; parts: Part[] }[];
  history?: Message[];
  metadata?: { 'urn:gantry:a2a:run:1'?: { assistantId: string; threadId: string; runId: string } };
}

export interface Message {
  messageId: string;
  role: string;
  parts: Part[];
  contextId?: string;
  taskId?: string;
}

export interface Part {
  text?: string;
  data?: unknown;
  url?: string;
  raw?: string;
  mediaType?: string;
  metadata?: Record<string, unknown>;
}

export interface StreamItem {
  task?: Task;
  message?: Message;
  statusUpdate?: { taskId: string; contextId: string; status: Task['status']; metadata?: Record<string, unknown> };
  artifactUpdate?: {
    taskId: string;
    artifact: NonNullable<Task['artifacts']>[number];
    append?: boolean;
    lastChunk?: boolean;
  };
}

export const threadOf = ({ metadata }: Task): string | undefined => metadata?.['urn:gantry:a2a:run:1']?.threadId;

/** Calls an agent off the wire, without a client's help: shapes, codes and headers are what is tested. */
export class AgentCaller {
  constructor(
    readonly url: string,
    readonly agent: string,
    private readonly headers: Record<string, string> = { 'a2a-version': '1.0' },
  ) {}

  as(headers: Record<string, string>): AgentCaller {
    return new AgentCaller(this.url, this.agent, headers);
  }

  of(agent: string): AgentCaller {
    return new AgentCaller(this.url, agent, this.headers);
  }

  post(body: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url}/a2a/${this.agent}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.headers, ...headers },
      body,
    });
  }

  async call(method: string, params?: unknown, id: string | number = 1): Promise<RpcAnswer> {
    const response = await this.post(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    const text = await response.text();
    // A refused stream of 0.3 has the error as its only event.
    const isEvent = response.headers.get('content-type')?.startsWith('text/event-stream');
    return JSON.parse(isEvent ? text.slice('data: '.length) : text) as RpcAnswer;
  }

  /** The result of a call that is expected to succeed. */
  async result<T>(method: string, params?: unknown): Promise<T> {
    const { result, error } = await this.call(method, params);
    if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result as T;
  }

  async code(method: string, params?: unknown): Promise<number | undefined> {
    return (await this.call(method, params)).error?.code;
  }

  async send(parts: Part[], message: object = {}, configuration?: object): Promise<Task> {
    return (await this.result<{ task: Task }>('SendMessage', toMessage(parts, message, configuration))).task;
  }

  say(text: string, message: object = {}, configuration?: object): Promise<Task> {
    return this.send([{ text }], message, configuration);
  }

  get(id: string, more: object = {}): Promise<Task> {
    return this.result<Task>('GetTask', { id, ...more });
  }

  async stream(method: string, params: unknown): Promise<AgentStream> {
    return new AgentStream(await this.post(JSON.stringify({ jsonrpc: '2.0', id: 'stream', method, params })));
  }
}

export function toMessage(parts: Part[], message: object = {}, configuration?: object) {
  return {
    message: { messageId: randomUUID(), role: 'ROLE_USER', parts, ...message },
    ...(configuration && { configuration }),
  };
}

/** The events of a stream as they arrive. */
export class AgentStream implements AsyncIterable<StreamItem> {
  readonly items: StreamItem[] = [];
  private readonly reader: SseReader;

  constructor(readonly response: Response) {
    this.reader = new SseReader(response);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamItem> {
    for await (const { data } of this.reader) {
      const answer = data as RpcAnswer;
      if (answer.error) throw new Error(`${answer.error.code} ${answer.error.message}`);
      this.items.push(answer.result as StreamItem);
      yield answer.result as StreamItem;
    }
  }

  /** The remaining events. */
  async rest(): Promise<StreamItem[]> {
    const from = this.items.length;
    for await (const item of this) void item;
    return this.items.slice(from);
  }

  async until(found: (item: StreamItem) => boolean): Promise<StreamItem> {
    for await (const item of this) if (found(item)) return item;
    throw new Error(`The stream ended without it: ${JSON.stringify(this.items)}`);
  }

  close(): Promise<void> {
    return this.reader.close();
  }
}

/** Assembles the pieces as a conforming client does: appends, or starts again. */
export function answerFrom(items: StreamItem[]): string {
  let text = '';
  for (const { task, artifactUpdate } of items) {
    if (task) text = textOf(task.artifacts);
    if (artifactUpdate) text = (artifactUpdate.append ? text : '') + textOf([artifactUpdate.artifact]);
  }
  return text;
}

export function textOf(artifacts: Task['artifacts'] = []): string {
  return artifacts.flatMap(({ parts }) => parts.map((part) => part.text ?? '')).join('');
}
