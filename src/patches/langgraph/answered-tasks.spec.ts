import { expectLibrary } from '../../../test/support/library-guard';
import { printedWith, WAYS_TO_LOAD } from '../../../test/support/patched-process';

describe('a task that was answered and changes no state', () => {
  const ran = (load: (name: string) => string, patches: Record<string, string>): string =>
    printedWith(
      patches,
      `${load('@langchain/langgraph')}.then(async ({ Annotation, Command, interrupt, MemorySaver, START, StateGraph }) => {
        let ended = 0;
        const graph = new StateGraph(Annotation.Root({ opinion: Annotation() }))
          .addNode('greet', () => { interrupt('Ready?'); ended += 1; return {}; })
          .addNode('insist', () => { interrupt('What?'); return { opinion: interrupt('Really?') }; })
          .addEdge(START, 'greet')
          .addEdge(START, 'insist')
          .compile({ checkpointer: new MemorySaver() });
        const config = { configurable: { thread_id: 'thread' } };
        const asked = await graph.invoke({}, config);
        const resume = Object.fromEntries(asked.__interrupt__.map(({ id }) => [id, 'yes']));
        await graph.invoke(new Command({ resume }), config);
        const { opinion } = await graph.invoke(new Command({ resume: 'indeed' }), config);
        console.log(ended, opinion);
      });`,
    );

  it.each(WAYS_TO_LOAD)('runs once, in %s', (_, load) => {
    // Another patch of the same module.
    const patches = { oneAtOnce: 'langgraph/one-at-once.ts', answeredTasks: 'langgraph/answered-tasks.ts' };
    expect(ran(load, patches)).toBe('1 indeed');
    const unpatched = ran(load, {});
    expectLibrary(unpatched === '2 indeed', 'LangGraph stores the end of such tasks by itself: the patch can go');
  });
});
