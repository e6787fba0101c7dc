import { existsSync, readFileSync } from 'node:fs';
import type { RunnableConfig } from '@langchain/core/runnables';
import { END, START, StateGraph } from '@langchain/langgraph';
import { Auth } from '@langchain/langgraph-sdk/auth';
import { Hono } from 'hono';
import { z } from 'zod';

/** The environment of user code, from the process and from the kernel's record of it. */
const seen = (): { env: NodeJS.ProcessEnv; kernel: string[] } => ({
  env: { ...process.env },
  kernel: existsSync('/proc/self/environ') ? readFileSync('/proc/self/environ', 'utf8').split('\0') : [],
});

const Seen = z.object({ graph: z.unknown().optional(), user: z.unknown().optional() });

export const graph = new StateGraph(Seen)
  .addNode('look', (_state, config: RunnableConfig) => ({
    graph: seen(),
    user: config.configurable?.langgraph_auth_user,
  }))
  .addEdge(START, 'look')
  .addEdge('look', END)
  .compile();

export const auth = new Auth()
  .authenticate(() => ({ identity: 'someone', permissions: [], seen: seen() }))
  .on('*', () => true);

export const app = new Hono().get('/seen', (context) => context.json(seen()));
