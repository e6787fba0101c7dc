import { readFileSync } from 'node:fs';
import type { RunnableConfig } from '@langchain/core/runnables';
import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
import { type Identity, recordExecution } from './ledger-node';

const WAYS: Record<string, () => void> = {
  exit: () => process.exit(3),
  // A fault of native code: no handler of JavaScript sees it.
  fault: () => process.kill(process.pid, 'SIGSEGV'),
  memory: () => {
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, index) => index * 1.5));
  },
};

const Crashing = z.object({ way: z.string().default('exit'), survived: z.boolean().default(false) });

/** Ends the process of its first attempt in one of several ways. */
export const crash = new StateGraph(Crashing)
  .addNode('crash', async ({ way }, config: RunnableConfig) => {
    await recordExecution('crash', config);
    if ((config.configurable as Identity).run_attempt === 1) {
      WAYS[way]();
      await new Promise(() => undefined);
    }
    return { survived: true };
  })
  .addEdge(START, 'crash')
  .addEdge('crash', END)
  .compile();

const Who = z.object({ uid: z.number().optional(), parent: z.string().optional() });

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreadable';
  }
}

/** Says whose user it is, and what it can read of the process that started it. */
export const who = new StateGraph(Who)
  .addNode('look', () => ({ uid: process.getuid?.(), parent: read(`/proc/${process.ppid}/environ`) }))
  .addEdge(START, 'look')
  .addEdge('look', END)
  .compile();
