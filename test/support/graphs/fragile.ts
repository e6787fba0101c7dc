import { existsSync } from 'node:fs';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

// The file stands for a server that is down.
if (existsSync(process.env.GANTRY_TEST_DOWN_FILE ?? '')) throw new Error('connect ECONNREFUSED tools.example:443');

const State = Annotation.Root({ answer: Annotation<string>() });

/** Needs a server when its module is loaded. */
export const fragile = new StateGraph(State)
  .addNode('reply', () => ({ answer: 'yes' }))
  .addEdge(START, 'reply')
  .addEdge('reply', END)
  .compile({ name: 'fragile' });
