import { Annotation, Command, END, interrupt, MemorySaver, Send, START, StateGraph } from '@langchain/langgraph';
import { expectLibrary } from '../../../test/support/library-guard';
import { beginsWithItsInput, CHECKPOINTER, nextNodes, STRICT_RESUME } from './graph-internals';

const State = Annotation.Root({ seen: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }) });
const visit = (name: string) => () => ({ seen: [name] });
const config = { configurable: { thread_id: 'thread' } };

describe('the internals of a graph', () => {
  it('show whether it begins with a conditional edge', () => {
    const plain = new StateGraph(State).addNode('a', visit('a')).addEdge(START, 'a').compile();
    const choosing = new StateGraph(State)
      .addNode('a', visit('a'))
      .addConditionalEdges(START, () => 'a', ['a'])
      .compile();
    expectLibrary(beginsWithItsInput(plain), 'A graph with an edge from START no longer has START among its `nodes`.');
    expectLibrary(!beginsWithItsInput(choosing), 'A choice at START is no longer in `builder.branches`.');
  });

  it('name the nodes that a checkpoint waits at: after an edge, a join and a Send', async () => {
    const saver = new MemorySaver();
    const graph = new StateGraph(State)
      .addNode('a', visit('a'))
      .addNode('b', visit('b'))
      .addNode('joined', visit('joined'))
      .addNode('sent', visit('sent'))
      .addEdge(START, 'a')
      .addEdge(START, 'b')
      .addEdge(['a', 'b'], 'joined')
      .addConditionalEdges('joined', () => [new Send('sent', {})], ['sent'])
      .addEdge('sent', END)
      .compile({ checkpointer: saver, interruptBefore: ['a', 'joined', 'sent'] });
    const waitsAt: string[][] = [];
    for (let input: object | null = {}; waitsAt.length < 3; input = null) {
      await graph.invoke(input, config);
      const { checkpoint } = (await saver.getTuple(config))!;
      waitsAt.push(nextNodes(checkpoint).sort());
    }
    expectLibrary(
      JSON.stringify(waitsAt) === '[["a","b"],["joined"],["sent"]]',
      `The channels of the next nodes have other names: read ${JSON.stringify(waitsAt)} from checkpoints before a and b, joined, and sent.`,
    );
  });

  it('accept a saver for one run, and refuse an answer to a question that is not open', async () => {
    const saver = new MemorySaver();
    const graph = new StateGraph(State)
      .addNode('a', () => ({ seen: [String(interrupt('question'))] }))
      .addEdge(START, 'a')
      .compile();
    const withSaver = { configurable: { ...config.configurable, [CHECKPOINTER]: saver, [STRICT_RESUME]: true } };
    await graph.invoke({}, withSaver);
    expectLibrary(
      (await saver.getTuple(config)) !== undefined,
      `\`configurable.${CHECKPOINTER}\` is not the saver of a run.`,
    );
    const answer = new Command<unknown, Partial<typeof State.State>, 'a'>({ resume: { ['0'.repeat(32)]: 'late' } });
    const failure = await graph.invoke(answer, withSaver).catch((error: Error) => error.name);
    expectLibrary(failure === 'UnknownInterruptError', `\`configurable.${STRICT_RESUME}\` refuses no unknown answer.`);
  });
});
