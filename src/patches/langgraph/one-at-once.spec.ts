import { expectLibrary } from '../../../test/support/library-guard';
import { printedWith, WAYS_TO_LOAD } from '../../../test/support/patched-process';
import { canLimitTasks, oneAtOnce } from './one-at-once';

const PATCHES = { oneAtOnce: 'langgraph/one-at-once.ts' };

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
    expect(ran(load, PATCHES)).toBe('3');
    const unpatched = ran(load, {});
    expectLibrary(unpatched !== '3', 'LangGraph runs all tasks by itself: the patch can go');
  });
});

/** Four tasks that are ended after the second has begun, and are continued later: by an abort or, at first, an error. */
describe.each([1, 2])('a step of which %i tasks run at once, and which ends early', (maxConcurrency) => {
  const done = (load: (name: string) => string, patches: Record<string, string>): string =>
    printedWith(
      patches,
      `${load('@langchain/langgraph')}.then(async ({ Annotation, MemorySaver, Send, START, StateGraph }) => {
        let abort;
        let hasFailed = false;
        const State = Annotation.Root({ ends: Annotation(), done: Annotation({ reducer: (left, right) => left.concat(right), default: () => [] }) });
        const graph = new StateGraph(State)
          .addNode('work', async ({ number, ends }, { signal }) => {
            if (ends === 'by an error' && !hasFailed) {
              hasFailed = true;
              throw new Error(ends);
            }
            if (number === 2 && ends === 'by an abort') abort.abort();
            await new Promise((resolve) => setImmediate(resolve));
            if (signal?.aborted) throw new Error('aborted');
            return { done: [number] };
          })
          .addConditionalEdges(START, ({ ends }) => [1, 2, 3, 4].map((number) => new Send('work', { number, ends })), ['work'])
          .compile({ checkpointer: new MemorySaver() });
        for (const ends of ['by an abort', 'by an error']) {
          abort = new AbortController();
          const config = { configurable: { thread_id: ends }, maxConcurrency: ${maxConcurrency} };
          const ended = await graph.invoke({ ends }, { ...config, signal: abort.signal }).catch(() => 'failed');
          console.log(ended, (await graph.invoke(null, config)).done.sort().join());
        }
      });`,
    );

  it.each(WAYS_TO_LOAD)('runs the others later, in %s', (_, load) => {
    expect(done(load, PATCHES)).toBe('failed 1,2,3,4\nfailed 1,2,3,4');
    expectLibrary(
      done(load, {}) !== 'failed 1,2,3,4\nfailed 1,2,3,4',
      'LangGraph starts no task after an abort: the patch can go',
    );
  });
});

describe('a version of LangGraph with another loop', () => {
  it('is left as it is, and known not to limit tasks', () => {
    expect(canLimitTasks()).toBe(true);
    expect(oneAtOnce.patch('while (true) {}')).toBe('while (true) {}');
    expect(canLimitTasks()).toBe(false);
  });
});
