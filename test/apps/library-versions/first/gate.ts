import { Annotation, END, interrupt, Send, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  log: Annotation<unknown[]>({ reducer: (before, added) => [...before, ...added], default: () => [] }),
});

function decide(question: string) {
  return () => {
    const answer = interrupt<string, unknown>(question);
    return { log: [answer, answer ? 'approved' : 'refused'] };
  };
}

/** Asks for an approval. */
export const gate = new StateGraph(State)
  .addNode('ask', decide('Go on?'))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile();

/** Asks in a graph inside. */
export const nested = new StateGraph(State)
  .addNode('inner', gate)
  .addEdge(START, 'inner')
  .addEdge('inner', END)
  .compile();

/** Asks in two nodes at the same time. */
export const both = new StateGraph(State)
  .addNode('one', decide('One?'))
  .addNode('two', decide('Two?'))
  .addEdge(START, 'one')
  .addEdge(START, 'two')
  .compile();

/** Asks two questions in a node. */
export const twice = new StateGraph(State)
  .addNode('ask', () => ({ log: [interrupt('Who?'), interrupt('Sure?')] }))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile();

/** Has a step of four tasks. */
export const fan = new StateGraph(State)
  .addNode('work', ({ number }: { number: number }) => ({ log: [number] }))
  .addConditionalEdges(START, () => [1, 2, 3, 4].map((number) => new Send('work', { number })), ['work'])
  .addEdge('work', END)
  .compile();
