import { setTimeout } from 'node:timers/promises';
import { AIMessage } from '@langchain/core/messages';
import {
  Annotation,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  note: Annotation<string | undefined>,
  seen: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
  mode: Annotation<string | undefined>,
  answer: Annotation<unknown>,
});

/** A question in the form of MCP. */
const FORM = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Why?',
    requestedSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
};

/** Puts its note into the store, a stream, messages and, depending on `mode`, a question or an error. */
export const graph = new StateGraph(State)
  .addNode('look', async ({ note = '', mode }, config: LangGraphRunnableConfig) => {
    config.writer?.({ custom: note });
    if (note) await config.store?.put(['notes'], `typescript-${note.length}`, { text: note });
    if (mode === 'secretive') return { seen: ['unencrypt' + 'able'] };
    const topic: unknown = config.configurable?.topic;
    return { seen: [note, ...(typeof topic === 'string' ? [topic] : [])], messages: [new AIMessage(`about ${note}`)] };
  })
  .addNode('ask', async ({ mode, note }, { configurable, signal }: LangGraphRunnableConfig) => {
    // Waits until the process is killed.
    if (mode === 'slow' && configurable?.run_attempt === 1) await setTimeout(120_000, undefined, { signal });
    if (mode === 'fail') throw new Error(`no good: ${note}`);
    if (mode === 'ask for two') return { answer: interrupt({ inputRequests: { first: FORM, second: FORM } }) };
    return mode === 'ask' ? { answer: interrupt(`why ${note}?`) } : {};
  })
  .addEdge(START, 'look')
  .addEdge('look', 'ask')
  .addEdge('ask', END)
  .compile();
