import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ round: Annotation<number>, rounds: Annotation<number> });

/** Goes through one node as often as its input says: a run of any number of steps. */
export const rounds = new StateGraph(State)
  .addNode('play', ({ round = 0 }) => ({ round: round + 1 }))
  .addEdge(START, 'play')
  .addConditionalEdges('play', ({ round, rounds: all }) => (round < all ? 'play' : END), ['play', END])
  .compile();
