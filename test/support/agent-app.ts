import type { Client } from '@langchain/langgraph-sdk';
import { installApp } from './app';
import { type Gantry, startGantry } from './gantry';
import { ModelServer } from './model-server';

/** The stream modes that the API has for agents, each by the name that clients ask for it. */
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

/** An application of test/apps, served by a Gantry of its own whose models are answered by a server of the test's. */
export class AgentApp {
  private constructor(
    readonly gantry: Gantry,
    readonly client: Client,
    private readonly model: ModelServer,
  ) {}

  static async start(name: string, env: Record<string, string> = {}): Promise<AgentApp> {
    const model = await ModelServer.start();
    try {
      const gantry = await startGantry({ graphs: await installApp(name), env: { ...model.env, ...env } });
      return new AgentApp(gantry, gantry.client(), model);
    } catch (error) {
      await model.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.gantry.stop();
    await this.model.stop();
  }
}
