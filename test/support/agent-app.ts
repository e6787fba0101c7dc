import type { Client } from '@langchain/langgraph-sdk';
import { installApp } from './app';
import { type Gantry, startGantry } from './gantry';
import { textOf } from './model-apis/exchange';
import { ModelServer } from './model-server';
import { SseReader, type SseEvent } from './sse';
import { waitFor } from './wait-for';

/** Stream modes of the API for agents, by the names that clients request. */
export const AGENT_MODES = [
  'values',
  'updates',
  'messages',
  'messages-tuple',
  'tasks',
  'checkpoints',
  'debug',
  'events',
  'custom',
] as const;

/** An application that is served by a Gantry of its own whose models are answered by a server of the test's. */
export class AgentApp {
  private constructor(
    readonly gantry: Gantry,
    readonly client: Client,
    readonly model: ModelServer,
    private readonly headers: Record<string, string> = {},
  ) {}

  /** Serves an application of test/apps. */
  static start(name: string, env: Record<string, string> = {}): Promise<AgentApp> {
    return AgentApp.serve(() => installApp(name), env);
  }

  /**
   * @param layOut lays the application out, and resolves to the path of its langgraph.json
   * @param headers of every request of the client, where the application asks who it is
   */
  static async serve(
    layOut: (model: ModelServer) => Promise<string>,
    env: Record<string, string> = {},
    headers?: Record<string, string>,
  ): Promise<AgentApp> {
    const model = await ModelServer.start();
    try {
      const gantry = await startGantry({
        graphProcesses: 1,
        graphs: await layOut(model),
        env: { ...model.env, ...env },
      });
      return new AgentApp(gantry, gantry.client({ headers }), model, headers);
    } catch (error) {
      await model.stop();
      throw error;
    }
  }

  /**
   * Reads the tokens of a run whose model holds its answer (a line `hold` of the user's message) as a page does that is
   * loaded again in the middle: leaves after the first token, joins after the last event that it had, and reads to the end.
   */
  async readReloaded(thread: string, run: string): Promise<SseEvent[]> {
    const url = `${this.gantry.url}/threads/${thread}/runs/${run}/stream`;
    const isToken = ({ event, data }: SseEvent): boolean =>
      event === 'messages' && textOf((data as { content: unknown }[])[0].content) !== '';
    const left = await SseReader.get(url, this.headers);
    const before = await left.until(isToken);
    await left.close();
    await waitFor('the answer to be held', () => this.model.heldCount > 0);
    const joined = await SseReader.get(url, { ...this.headers, 'last-event-id': before.at(-1)!.id! });
    this.model.release();
    return [...before, ...(await joined.rest())].filter(isToken);
  }

  async stop(): Promise<void> {
    await this.gantry.stop();
    await this.model.stop();
  }
}
