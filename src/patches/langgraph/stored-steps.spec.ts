import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { printedWith, WAYS_TO_LOAD } from '../../../test/support/patched-process';
import { storedSteps } from './stored-steps';

describe('the checkpoint of a step', () => {
  it.each(WAYS_TO_LOAD)('is stored before the next step begins, in %s', (_, load) => {
    const script = `${load('@langchain/langgraph')}.then(async ({ Annotation, MemorySaver, START, StateGraph }) => {
      const log = [];
      class SlowSaver extends MemorySaver {
        async put(...given) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          if (given[2].source === 'loop') log.push('step ' + given[2].step);
          return super.put(...given);
        }
      }
      const node = (name) => () => { log.push(name); return { done: name }; };
      const graph = new StateGraph(Annotation.Root({ done: Annotation() }))
        .addNode('first', node('first'))
        .addNode('second', node('second'))
        .addEdge(START, 'first')
        .addEdge('first', 'second')
        .compile({ checkpointer: new SlowSaver() });
      await graph.invoke({}, { configurable: { thread_id: 'thread' }, durability: 'sync' });
      console.log(log.join());
    });`;
    expect(printedWith({ storedSteps: 'langgraph/stored-steps.ts' }, script)).toBe('step 0,first,step 1,second,step 2');
  });

  // The installed version waits by itself: whether the patch finds its place shows only in the source.
  it.each(['js', 'cjs'])('has its place in the installed version: %s', (ending) => {
    const library = dirname(require.resolve('@langchain/langgraph/package.json'));
    const source = readFileSync(join(library, 'dist', 'pregel', `loop.${ending}`), 'utf8');
    expect(storedSteps.patch(source)).toContain('await untilStored(');
  });
});
