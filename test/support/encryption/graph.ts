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

/** Has its note in the store, a stream, messages and, as its `mode` says, a question or an error. */
export const graph = new StateGraph(State)
  .addNode('look', async ({ note = '', mode }, config: LangGraphRunnableConfig) => {
    config.writer?.({ custom: note });
    if (note) await config.store?.put(['notes'], `typescript-${note.length}`, { text: note });
    if (mode === 'secretive') return { seen: ['unencrypt' + 'able'] };
    const topic: unknown = config.configurable?.topic;
    return { seen: [note, ...(typeof topic === 'string' ? [topic] : [])], messages: [new AIMessage(`about ${note}`)] };
  })
  .addNode('ask', ({ mode, note }) => {
    if (mode === 'fail') throw new Error(`no good: ${note}`);
    return mode === 'ask' ? { answer: interrupt(`why ${note}?`) } : {};
  })
  .addEdge(START, 'look')
  .addEdge('look', 'ask')
  .addEdge('ask', END)
  .compile();
