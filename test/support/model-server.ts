import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chatCompletions } from './model-apis/chat-completions';
import { embeddings } from './model-apis/embeddings';
import type { Endpoint } from './model-apis/exchange';
import { messages } from './model-apis/messages';
import { responses } from './model-apis/responses';
import { answerTo, isHeld, type Prompt } from './model-apis/script';

const ENDPOINTS: Record<string, Endpoint> = {
  '/v1/chat/completions': chatCompletions,
  '/v1/responses': responses,
  '/v1/messages': messages,
  '/v1/embeddings': embeddings,
};

/**
 * A model that speaks the HTTP APIs of OpenAI and Anthropic, streamed and whole, and answers as {@link answerTo} documents.
 */
export class ModelServer {
  /** Requests in the order of arrival. */
  readonly prompts: (Prompt & { path: string; isStreamed: boolean })[] = [];
  private readonly held = new Set<() => void>();
  private readonly server = createServer((request, response) => {
    this.answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  static async start(): Promise<ModelServer> {
    const model = new ModelServer();
    await new Promise<void>((resolve) => model.server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Variables by which the libraries of both providers find it. */
  get env(): Record<string, string> {
    return {
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: `${this.url}/v1`,
      ANTHROPIC_API_KEY: 'none',
      ANTHROPIC_BASE_URL: this.url,
    };
  }

  /** Answers that stop after their first piece, because the user's message has the line `hold`. */
  get heldCount(): number {
    return this.held.size;
  }

  /** Lets every held answer continue to its end. */
  release(): void {
    for (const resume of this.held) resume();
    this.held.clear();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url!, this.url).pathname;
    const endpoint = ENDPOINTS[path];
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (!endpoint || request.method !== 'POST') {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `No endpoint ${request.method} ${path}` } }));
      return;
    }
    let holds = false;
    const body = JSON.parse(Buffer.concat(pieces).toString()) as { stream?: boolean };
    await endpoint({
      body,
      response,
      ask: (prompt) => {
        this.prompts.push({ ...prompt, path, isStreamed: body.stream === true });
        holds = isHeld(prompt);
        return answerTo(prompt);
      },
      next: async () => {
        if (!holds) return;
        holds = false;
        await this.untilReleased(response);
      },
    });
  }

  private untilReleased(response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      this.held.add(resolve);
      response.once('close', () => this.held.delete(resolve));
    });
  }
}
