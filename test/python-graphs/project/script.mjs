import { Annotation, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ said: Annotation() });

export const graph = new StateGraph(State)
  .addNode('say', () => ({ said: 'from JavaScript' }))
  .addEdge('__start__', 'say')
  .compile();
