import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { END, type LangGraphRunnableConfig, MessagesZodState, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';

const Context = z.object({
  user_id: z.string().min(1).default('me').describe('Whose memory it is'),
});

interface State {
  messages: BaseMessage[];
}

type Config = LangGraphRunnableConfig<z.infer<typeof Context>>;

const namespaceOf = ({ context }: Config): string[] => ['memories', context?.user_id ?? 'me'];

const lastOf = ({ messages }: State): BaseMessage | undefined => messages.at(-1);

/** "Remember that …", "forget …": everything else is a question. */
function intentOf(state: State): 'remember' | 'forget' | 'recall' {
  const [, verb] = /^\s*(remember|forget)\b/i.exec(lastOf(state)?.text ?? '') ?? [];
  return (verb?.toLowerCase() as 'remember' | 'forget' | undefined) ?? 'recall';
}

/** The same fact has the same key, so that a step that starts again after a crash writes it once. */
function keyOf(fact: string): string {
  return fact.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
}

const factOf = (state: State): string =>
  (lastOf(state)?.text ?? '').replace(/^\s*(remember|forget)(\s+that)?\s*/i, '').replace(/[.!\s]+$/, '');

async function remember(state: State, config: Config) {
  const fact = factOf(state);
  await config.store!.put(namespaceOf(config), keyOf(fact), { fact });
  return { messages: [new AIMessage(`I will remember that ${fact}.`)] };
}

async function forget(state: State, config: Config) {
  const fact = factOf(state);
  const key = keyOf(fact);
  const known = await config.store!.get(namespaceOf(config), key);
  if (known) await config.store!.delete(namespaceOf(config), key);
  return { messages: [new AIMessage(known ? `I have forgotten that ${fact}.` : `I didn't know that ${fact}.`)] };
}

async function recall(_state: State, config: Config) {
  const items = await config.store!.search(namespaceOf(config), { limit: 20 });
  const facts = items.map(({ value }) => `- ${String(value.fact)}`);
  const answer =
    facts.length > 0 ? `This is what I know, the latest first:\n${facts.join('\n')}` : 'I know nothing yet.';
  return { messages: [new AIMessage(answer)] };
}

/** What it learns in one thread, every other thread of the same user knows: it is in the store and not in the thread. */
export const graph = new StateGraph(MessagesZodState, Context)
  .addNode('remember', remember)
  .addNode('forget', forget)
  .addNode('recall', recall)
  .addConditionalEdges(START, intentOf, ['remember', 'forget', 'recall'])
  .addEdge('remember', END)
  .addEdge('forget', END)
  .addEdge('recall', END)
  .compile({ name: 'memory' });
