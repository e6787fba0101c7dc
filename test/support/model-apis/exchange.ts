import type { ServerResponse } from 'node:http';
import type { Answer, Prompt } from './script';

/** A request to a model, and the way to answer it. */
export interface Exchange {
  body: unknown;
  response: ServerResponse;
  /** Decides on the answer to a prompt, and notes the request. */
  ask(prompt: Prompt): Answer;
  /** Resolves when the next piece of a streamed answer may be sent. */
  next(): Promise<void>;
}

/** An endpoint of a provider's API. */
export type Endpoint = (exchange: Exchange) => Promise<void>;

let ids = 0;
export const newId = (prefix: string): string => `${prefix}_${++ids}`;

export function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

export function startEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** Text of a message whose content is a string or a list of blocks. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block: { text?: string; content?: unknown }) => block.text ?? textOf(block.content)).join('');
}

/** Words as a model streams them. */
export const words = (text: string): string[] => text.split(/(?<= )/);

/** Arguments of a tool call as a model streams them: text that is only JSON when it is complete. */
export const pieces = (args: string): string[] => args.match(/.{1,8}/gs) ?? [];
