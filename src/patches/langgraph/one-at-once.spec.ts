import { expectLibrary } from '../../../test/support/library-guard';
import { printedWith, WAYS_TO_LOAD } from '../../../test/support/patched-process';

describe('a step whose tasks run one at once', () => {
  const ran = (load: (name: string) => string, patches: Record<string, string>): string =>
    printedWith(
      patches,
      `${load('@langchain/langgraph')}.then(async ({ Annotation, Send, START, StateGraph }) => {
        const State = Annotation.Root({ ran: Annotation({ reducer: (left, right) => left + right, default: () => 0 }) });
        const graph = new StateGraph(State)
          .addNode('add', () => ({ ran: 1 }))
          .addConditionalEdges(START, () => [1, 2, 3].map(() => new Send('add', {})), ['add'])
          .compile();
        console.log((await graph.invoke({}, { maxConcurrency: 1 }))?.ran);
      });`,
    );

  it.each(WAYS_TO_LOAD)('runs all of them, in %s', (_, load) => {
    expect(ran(load, { oneAtOnce: 'langgraph/one-at-once.ts' })).toBe('3');
    const unpatched = ran(load, {});
    expectLibrary(unpatched !== '3', 'LangGraph runs all tasks by itself: the patch can go');
  });
});
