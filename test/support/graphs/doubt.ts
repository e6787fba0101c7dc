import type { RunnableConfig } from '@langchain/core/runnables';
import { END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { registry } from '@langchain/langgraph/zod';
import { z } from 'zod';
import { type Identity, pause, recordExecution } from './ledger-node';

/** Longer than any case takes: the process that waits for it is killed. */
const FOR_EVER_MS = 600_000;

const Steps = z.object({
  /** Whether the second node hangs in the first attempt. */
  hangs: z.boolean().default(false),
  step_ms: z.number().default(0),
  done: z
    .array(z.string())
    .default([])
    .register(registry, { reducer: { fn: (left: string[], right: string[]) => left.concat(right) } }),
});

function step(name: string, mayHang = false) {
  return async ({ hangs, step_ms }: z.infer<typeof Steps>, config: RunnableConfig) => {
    const { run_attempt } = config.configurable as Identity;
    const ended = await recordExecution(name, config);
    await pause(mayHang && hangs && run_attempt === 1 ? FOR_EVER_MS : step_ms, config.signal);
    await ended();
    return { done: [name] };
  };
}

const sequence = new StateGraph(Steps)
  .addSequence([
    ['first', step('first')],
    ['second', step('second', true)],
    ['third', step('third')],
  ])
  .addEdge(START, 'first')
  .addEdge('third', END);

export const steps = sequence.compile({ name: 'steps' });

type Outer = (state: z.infer<typeof Steps>, config: RunnableConfig) => Promise<{ done?: string[] }>;

const plainly: Outer = async ({ step_ms }, config) => ({ done: (await steps.invoke({ step_ms }, config)).done });

const hidingErrorsOf =
  (graph: typeof steps): Outer =>
  async ({ step_ms }, config) => {
    try {
      return { done: (await graph.invoke({ step_ms }, config)).done };
    } catch (error) {
      return { done: [`failed: ${String(error)}`] };
    }
  };

const wrappingErrors: Outer = async (state, config) => {
  try {
    return await plainly(state, config);
  } catch {
    throw new Error('The steps failed');
  }
};

const inOneNode = (name: string, outer: Outer) =>
  new StateGraph(Steps).addNode('outer', outer).addEdge(START, 'outer').addEdge('outer', END).compile({ name });

/** Runs the steps in a node that hides the errors of its nested graph. */
export const careless = inOneNode('careless', hidingErrorsOf(steps));

/** The same with a nested graph that keeps its state between runs: no task is in its namespace. */
export const carelessStateful = inOneNode(
  'careless_stateful',
  hidingErrorsOf(sequence.compile({ name: 'kept', checkpointer: true })),
);

/** Runs the steps in a node that makes an error of its own of those of its nested graph. */
export const wrapping = inOneNode('wrapping', wrappingErrors);

const slowly: Outer = (state, config) => step('plain')({ ...state, step_ms: 2 * state.step_ms }, config);

/** Runs the steps in a node, and beside it one of no steps that takes longer than the first of them. */
const besideAnother = (name: string, outer: Outer) =>
  new StateGraph(Steps)
    .addNode('outer', outer)
    .addNode('plain', slowly)
    .addEdge(START, 'outer')
    .addEdge(START, 'plain')
    .addEdge('outer', END)
    .addEdge('plain', END)
    .compile({ name });

export const beside = besideAnother('beside', plainly);
export const carelessBeside = besideAnother('careless_beside', hidingErrorsOf(steps));

const Payment = z.object({ paid: z.string().default('') });

async function pay(paid: string, config: RunnableConfig) {
  const ended = await recordExecution('pay', config);
  await pause((config.configurable as Identity).run_attempt === 1 ? FOR_EVER_MS : 0, config.signal);
  await ended();
  return { paid };
}

/** Asks a person, and pays after the answer: for ever in the first attempt. */
export const approved = new StateGraph(Payment)
  .addNode('pay', (_, config: RunnableConfig) => pay(interrupt('Pay?'), config))
  .addEdge(START, 'pay')
  .addEdge('pay', END)
  .compile({ name: 'approved' });

/** Asks a person twice, and pays after the second answer: for ever in the first attempt. */
export const approvedTwice = new StateGraph(Payment)
  .addNode('pay', (_, config: RunnableConfig) => {
    interrupt('Pay?');
    return pay(interrupt('Really?'), config);
  })
  .addEdge(START, 'pay')
  .addEdge('pay', END)
  .compile({ name: 'approved_twice' });

/** Stops before it pays: for ever in the first attempt. A node beside it changes no state, and has ended by then. */
export const confirmed = new StateGraph(Payment)
  .addNode('pay', (_, config: RunnableConfig) => pay('yes', config))
  .addNode('log', () => ({}))
  .addEdge(START, 'pay')
  .addEdge(START, 'log')
  .addEdge('pay', END)
  .addEdge('log', END)
  .compile({ name: 'confirmed', interruptBefore: ['pay'] });
