import type { RunnableConfig } from '@langchain/core/runnables';
import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
import { pause, recordExecution } from './ledger-node';

const Throwing = z.object({ how: z.string().default(''), passed: z.boolean().default(false) });

class ToolError extends Error {}

const circle = new Error('circle');
circle.cause = circle;

/** Values that a node throws. Some have no text, others look like errors of Gantry's own. */
const THROWN: Record<string, unknown> = {
  'a statement timeout': Object.assign(new Error('canceling statement'), { code: '57014', severity: 'ERROR' }),
  'a lost connection': new Error('Connection terminated unexpectedly'),
  'a full pool': new Error('timeout exceeded when trying to connect'),
  'an error of the same name': Object.assign(new Error('x'), { name: 'FencedError' }),
  'no text': Object.create(null),
  'a class as name': Object.assign(new ToolError('broken'), { name: ToolError }),
  'an object as message': Object.assign(new Error(), { message: { detail: 'no' } }),
  'the body of an answer': { message: 'duplicate key', code: '23505' },
  'a body without a message': { code: '23505', hint: null },
  'a circle of causes': circle,
  'what can not be sent': Object.assign(new Error('x'), {
    name: 'UnknownInterruptError',
    reason: 'x',
    interruptIds: () => [],
  }),
};

export const thrown = new StateGraph(Throwing)
  .addNode('throw', async ({ how }, config: RunnableConfig) => {
    await recordExecution('throw', config);
    if (how in THROWN) throw THROWN[how];
    setTimeout(() => {
      throw THROWN['no text'];
    });
    await pause(500, config.signal);
    return { passed: true };
  })
  .addEdge(START, 'throw')
  .addEdge('throw', END)
  .compile({ name: 'thrown' });

/** Never makes the graph of a run. */
export const hung = async (_config: unknown, { accessContext }: { accessContext: string }) => {
  if (accessContext === 'threads.create_run') await new Promise(() => undefined);
  return thrown;
};
