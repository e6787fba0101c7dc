import { Annotation, END, Send, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  path: Annotation<string[]>({ reducer: (before, added) => [...before, ...added], default: () => [] }),
});

/** A graph whose nodes a command can be sent to. */
export const routed = new StateGraph(State)
  .addNode('add', ({ item }: { item: number }) => ({ path: [`add ${item}`] }), {
    input: Annotation.Root({ item: Annotation<number> }),
  })
  .addNode('aside', () => ({ path: ['aside'] }))
  .addConditionalEdges(START, () => [new Send('add', { item: 1 })], ['add', 'aside'])
  .addEdge('add', END)
  .addEdge('aside', END)
  .compile();
