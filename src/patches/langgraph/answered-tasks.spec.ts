import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expectLibrary } from '../../../test/support/library-guard';

const required = (...path: string[]): string => `require(${JSON.stringify(join(__dirname, ...path))})`;

describe('a task that was answered and changes no state', () => {
  const ran = (load: string, patches: string): string => {
    // A process of its own, since jest has a loader of its own. Node strips the types.
    const script = `
      const { answeredTasks } = ${required('answered-tasks.ts')};
      const { oneAtOnce } = ${required('one-at-once.ts')};
      ${required('..', '..', 'graphs', 'host', 'patched-sources.ts')}.patchSources([${patches}]);
      ${load}.then(async ({ Annotation, Command, interrupt, MemorySaver, START, StateGraph }) => {
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
      });`;
    return execFileSync(process.execPath, ['-e', script], { cwd: __dirname, encoding: 'utf8', stdio: 'pipe' }).trim();
  };

  it.each([
    ['CommonJS', `Promise.resolve(require('@langchain/langgraph'))`],
    ['an ES module', `import('@langchain/langgraph')`],
  ])('runs once, in %s', (_, load) => {
    // Another patch of the same module.
    expect(ran(load, 'oneAtOnce, answeredTasks')).toBe('1 indeed');
    const unpatched = ran(load, '');
    expectLibrary(unpatched === '2 indeed', 'LangGraph stores the end of such tasks by itself: the patch can go');
  });
});
