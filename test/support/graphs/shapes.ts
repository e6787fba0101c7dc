import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import { FakeListChatModel, FakeStreamingChatModel } from '@langchain/core/utils/testing';
import {
  Annotation,
  Command,
  END,
  entrypoint,
  getPreviousState,
  interrupt,
  type LangGraphRunnableConfig,
  messagesStateReducer,
  Send,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph';
import { z } from 'zod';

/** Graphs of every shape that the library knows, in plain TypeScript types and in zod. */

interface Address {
  street: string;
  /** Where letters go. */
  city?: string;
}

const Typed = Annotation.Root({
  address: Annotation<Address>,
  tags: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
  messages: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
});

const TypedConfig = Annotation.Root({ model: Annotation<'small' | 'large'> });

/** Its state has no schema at run time: only its types say what it is. */
export const typed = new StateGraph(Typed, TypedConfig)
  .addNode('file', (_: typeof Typed.State, config: RunnableConfig) => ({
    tags: [`filed by ${String(config.configurable?.model)}`],
  }))
  .addEdge(START, 'file')
  .addEdge('file', END)
  .compile();

const Dated = z.object({ question: z.string().default(''), answer: z.string().default(''), at: z.date().optional() });

/** Its state has a value without a JSON Schema; its input and output have none. */
export const dated = new StateGraph({
  state: Dated,
  input: z.object({ question: z.string().describe('What is asked') }),
  output: z.object({ answer: z.string().describe('What is known') }),
})
  .addNode('look_up', ({ question }) => ({ answer: `${question}!` }))
  .addEdge(START, 'look_up')
  .addEdge('look_up', END)
  .compile();

const Configuration = z.object({ given: z.string().default(''), from_context: z.string().default('') });

/** Returns its configuration, from both places that may have it. It has a context even where no run gave one. */
export const configured = new StateGraph(Configuration, z.object({ model: z.string().optional() }))
  .addNode('tell', (_, config: LangGraphRunnableConfig<{ model?: string }>) => ({
    given: JSON.stringify(config.configurable, (key, value: unknown) => (key.startsWith('__') ? undefined : value)),
    from_context: String(config.context!.model),
  }))
  .addEdge(START, 'tell')
  .addEdge('tell', END)
  .compile();

/** Made again for each run, from its configuration. */
export const factory = (config: { configurable?: { steps?: number } }) => {
  const Steps = z.object({ steps: z.array(z.string()).default([]) });
  const names = Array.from({ length: config.configurable?.steps ?? 1 }, (_, index) => `step_${index + 1}`);
  const graph = new StateGraph(Steps);
  for (const name of names) graph.addNode(name, ({ steps }) => ({ steps: [...steps, name] }));
  const edges = graph as unknown as StateGraph<typeof Steps, unknown, unknown, string>;
  [START, ...names].forEach((name, index) => edges.addEdge(name as typeof START, (names[index] ?? END) as typeof END));
  return Promise.resolve(graph);
};

type Given = [
  config: Record<'configurable' | 'metadata' | 'context' | 'store' | 'checkpointer', object | undefined>,
  runtime: { accessContext: string; executionRuntime: { context: object } | null },
];

/** Made by a function whose parameters no one can count, with a node and a drawing that show what it was given. */
export const informed = async (...[config, runtime]: Given) => {
  const given = {
    configurable: config.configurable,
    owner: (config.metadata as { owner?: string }).owner,
    context: config.context,
    accessContext: runtime.accessContext,
    executionRuntime: runtime.executionRuntime,
    has: Object.entries(config).flatMap(([key, value]) => (value === undefined ? [] : [key])),
  };
  const node = String((config.configurable as { node?: string }).node ?? 'unnamed');
  return new StateGraph(z.object({ given: z.unknown() }))
    .addNode(node, () => ({ given }))
    .addEdge(START, node)
    .addEdge(node, END)
    .compile();
};

const double = task('double', (value: number) => value * 2);

/** The functional API: a task, an interrupt in the middle, and what it returned the last time. */
export const functional = entrypoint({ name: 'functional' }, async ({ value }: { value: number }) => {
  const doubled = await double(value);
  const answer = interrupt<string, string>(`Is ${doubled} right?`);
  return { doubled, answer, previous: getPreviousState<{ doubled: number }>()?.doubled ?? null };
});

const Routed = Annotation.Root({
  path: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
  items: Annotation<number[]>,
  total: Annotation<number>({ reducer: (left, right) => left + right, default: () => 0 }),
});

/** `Command` in a node, `Send` to as many tasks as there are items. */
export const routed = new StateGraph(Routed)
  .addNode(
    'decide',
    ({ items }: typeof Routed.State) =>
      new Command({
        update: { path: ['decide'] },
        goto: (items ?? []).map((item) => new Send('add', { item })),
      }),
    { ends: ['add', 'aside'] },
  )
  .addNode('add', ({ item }: { item: number }) => ({ path: [`add ${item}`], total: item }))
  .addNode('aside', () => ({ path: ['aside'] }))
  .addEdge(START, 'decide')
  .compile();

/** Runs a graph on a thread of its own for each item, all at once. */
export const delegating = new StateGraph(Routed)
  .addNode('delegate', async ({ items }: typeof Routed.State, config: RunnableConfig) => {
    const { configurable } = config;
    const totals = await Promise.all(
      items.map(async (item) => {
        const own = { ...configurable, thread_id: `${String(configurable!.thread_id)}-${item}`, checkpoint_ns: '' };
        return (await routed.invoke({ items: [item] }, { ...config, configurable: own })).total;
      }),
    );
    return { total: totals.reduce((sum, each) => sum + each, 0) };
  })
  .addEdge(START, 'delegate')
  .addEdge('delegate', END)
  .compile();

const Crowd = Annotation.Root({
  sizes: Annotation<number[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
});
let inside = 0;

/** Six nodes at once, as far as the config lets it; each notes how many are inside. */
export const crowd = new StateGraph(Crowd)
  .addNode('enter', async () => {
    const size = (inside += 1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    inside -= 1;
    return { sizes: [size] };
  })
  .addConditionalEdges(START, () => Array.from({ length: 6 }, () => new Send('enter', {})), ['enter'])
  .addEdge('enter', END)
  .compile();

const model = new FakeListChatModel({ responses: ['one two three'], sleep: 1 });
const Inner = Annotation.Root({
  note: Annotation<string>,
  messages: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
});

const deepest = new StateGraph(Inner)
  .addNode('think', async (_: typeof Inner.State, config: LangGraphRunnableConfig) => {
    config.writer?.({ at: 'think' });
    const message = await model.invoke('think', config);
    return { note: 'thought', messages: [message] };
  })
  .addEdge(START, 'think')
  .addEdge('think', END)
  .compile();

const middle = new StateGraph(Inner)
  .addNode('deepest', deepest)
  .addNode('question', () => ({ note: `answered ${interrupt<string, string>('Deep enough?')}` }))
  .addEdge(START, 'deepest')
  .addEdge('deepest', 'question')
  .addEdge('question', END)
  .compile();

/** A graph in a graph in a graph, which asks in the middle one. */
export const deep = new StateGraph(Inner)
  .addNode('middle', middle)
  .addEdge(START, 'middle')
  .addEdge('middle', END)
  .compile();

const Unkept = Annotation.Root({
  answers: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

/** Would keep no checkpoints, were it not served: as a node of another graph it keeps none. */
export const unkept = new StateGraph(Unkept)
  .addNode('ask', (_: typeof Unkept.State, { configurable }: RunnableConfig) => ({
    answers: [configurable?.unasked ? 'not asked' : interrupt<string, string>('Which?')],
  }))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile({ checkpointer: false });

/** Has the graph without checkpoints as a node. */
export const outer = new StateGraph(Unkept)
  .addNode('unkept', unkept)
  .addEdge(START, 'unkept')
  .addEdge('unkept', END)
  .compile();

/** Describes the form of an answer. */
export const vote = new StateGraph(z.object({ vote: z.number().default(0) }))
  .addNode('ask', () => ({ vote: interrupt<string, number>('How many?', { responseSchema: z.number().max(10) }) }))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile();

/** A model that is faster than the listener that uses it on behalf of the user. */
const overheardModel = new FakeStreamingChatModel({
  chunks: Array.from({ length: 50 }, (_, index) => new AIMessageChunk(`word-${index} `)),
  callbacks: [{ handleLLMNewToken: () => new Promise((resolve) => setTimeout(resolve, 5)) }],
});

export const overheard = new StateGraph(Typed)
  .addNode('say', async ({ messages }, config: RunnableConfig) => ({
    messages: [await overheardModel.invoke(messages, config)],
  }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile();

/** A node that returns a message of the class of pieces, as models do whose answer was streamed where it isn't shown. */
export const whole = new StateGraph(Typed)
  .addNode('say', () => ({ messages: [new AIMessageChunk({ id: 'whole', content: 'all at once' })] }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile();

const Survey = Annotation.Root({ opinion: Annotation<string> });

/** Four nodes that ask at the same time: of three the answers leave nothing in the state, and the last one asks twice. */
export const survey = new StateGraph(Survey)
  .addNode('greet', () => {
    interrupt('Ready?');
    return {};
  })
  .addNode('route', () => new Command({ goto: interrupt<string, string>('Where to?') }), { ends: ['shout'] })
  .addNode('ignore', () => {
    interrupt('Anything else?');
    return null as unknown as typeof Survey.Update;
  })
  .addNode('insist', () => {
    interrupt('What do you think?');
    return { opinion: interrupt<string, string>('Really?') };
  })
  .addNode('shout', ({ opinion }) => ({ opinion: opinion.toUpperCase() }))
  .addEdge(START, 'greet')
  .addEdge(START, 'route')
  .addEdge(START, 'ignore')
  .addEdge(START, 'insist')
  .compile();
