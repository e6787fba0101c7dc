import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expectLibrary } from '../../../test/support/library-guard';

const required = (...path: string[]): string => `require(${JSON.stringify(join(__dirname, ...path))})`;

describe('a step whose tasks run one at once', () => {
  const ran = (load: string, patches: string): string => {
    // A process of its own, since jest has a loader of its own. Node strips the types.
    const script = `
      const { oneAtOnce } = ${required('one-at-once.ts')};
      ${required('..', '..', 'graphs', 'host', 'patched-sources.ts')}.patchSources([${patches}]);
      ${load}.then(async ({ Annotation, Send, START, StateGraph }) => {
        const State = Annotation.Root({ ran: Annotation({ reducer: (left, right) => left + right, default: () => 0 }) });
        const graph = new StateGraph(State)
          .addNode('add', () => ({ ran: 1 }))
          .addConditionalEdges(START, () => [1, 2, 3].map(() => new Send('add', {})), ['add'])
          .compile();
        console.log((await graph.invoke({}, { maxConcurrency: 1 }))?.ran);
      });`;
    return execFileSync(process.execPath, ['-e', script], { cwd: __dirname, encoding: 'utf8', stdio: 'pipe' }).trim();
  };

  it.each([
    ['CommonJS', `Promise.resolve(require('@langchain/langgraph'))`],
    ['an ES module', `import('@langchain/langgraph')`],
  ])('runs all of them, in %s', (_, load) => {
    expect(ran(load, 'oneAtOnce')).toBe('3');
    const unpatched = ran(load, '');
    expectLibrary(unpatched !== '3', 'LangGraph runs all tasks by itself: the patch can go');
  });
});
