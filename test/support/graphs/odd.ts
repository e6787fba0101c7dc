import { AIMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { pause, recordExecution } from './ledger-node';

/** Half an emoji, and the character that no Postgres text holds. */
const ODD = 'a\ud83db\0c';

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  how: Annotation<'return' | 'throw' | 'ask' | 'nap' | 'nest'>(),
  odd: Annotation<unknown>(),
});

const nested = (depth: number): unknown => {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
};

/** Produces values that tables can't store, in each of the ways in which a graph can emit them. */
export const odd = new StateGraph(State)
  .addNode('make', async ({ how }, config: RunnableConfig & { writer?: (chunk: unknown) => void }) => {
    const ended = await recordExecution('make', config);
    await ended();
    config.writer?.({ [ODD]: ODD });
    if (how === 'throw') throw Object.assign(new Error(ODD), { name: `Error${ODD}` });
    if (how === 'ask') return { odd: interrupt<unknown>({ [ODD]: ODD }) };
    if (how === 'nest') return { odd: nested(20_000) };
    return { odd: { [ODD]: ODD }, messages: [new AIMessage(ODD)] };
  })
  .addNode('nap', async ({ how }, config: RunnableConfig) => {
    if (how !== 'nap') return {};
    await recordExecution('nap', config);
    await pause(600_000, config.signal);
    return {};
  })
  .addEdge(START, 'make')
  .addEdge('make', 'nap')
  .addEdge('nap', END)
  .compile({ name: 'odd' });
