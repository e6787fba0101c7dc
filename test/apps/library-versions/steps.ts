import { appendFileSync } from 'node:fs';
import type { RunnableConfig } from '@langchain/core/runnables';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

const Steps = Annotation.Root({ file: Annotation<string>() });

/** Writes its name and the attempt at the run to the file when it begins. */
const step =
  (name: string, ms: number) =>
  async ({ file }: typeof Steps.State, config: RunnableConfig) => {
    appendFileSync(file, `${name} ${String(config.configurable!.run_attempt)}\n`);
    await new Promise((resolve) => setTimeout(resolve, ms));
    return {};
  };

/** Its first node takes long enough for a worker to be stopped meanwhile. */
export const steps = new StateGraph(Steps)
  .addNode('first', step('first', 5_000))
  .addNode('second', step('second', 0))
  .addNode('third', step('third', 0))
  .addEdge(START, 'first')
  .addEdge('first', 'second')
  .addEdge('second', 'third')
  .addEdge('third', END)
  .compile();

/** Runs the steps in a node that hides the errors of its nested graph, and another node after it. */
export const careless = new StateGraph(Steps)
  .addNode('outer', async ({ file }: typeof Steps.State, config: RunnableConfig) => {
    try {
      await steps.invoke({ file }, config);
    } catch {
      // Nothing can be done without the steps.
    }
    return {};
  })
  .addNode('after', step('after', 0))
  .addEdge(START, 'outer')
  .addEdge('outer', 'after')
  .addEdge('after', END)
  .compile();
