import { expectLibrary } from '../../../test/support/library-guard';
import { printedWith, WAYS_TO_LOAD } from '../../../test/support/patched-process';

describe('the run of what is not traced', () => {
  it.each(WAYS_TO_LOAD)('is made where it is used, in %s', (_, load) => {
    const script = `
      const loading = [${load('@langchain/core/singletons')}, ${load('langsmith')}];
      Promise.all(loading).then(([{ AsyncLocalStorageProviderSingleton: provider }, { RunTree }]) => {
        const { AsyncLocalStorage } = require('node:async_hooks');
        provider.initializeGlobalInstance(new AsyncLocalStorage());
        const runOf = (config) => provider.runWithConfig(config, () => provider.getInstance().getStore());
        const [run, other] = [runOf({ tags: ['a'] }), runOf({ tags: ['b'] })];
        const config = provider.runWithConfig({ tags: ['a'] }, () => provider.getRunnableConfig());
        const before = Object.keys(run);
        const child = run.createChild({ name: 'child' });
        const library = new RunTree({ name: '<runnable_lambda>', tracingEnabled: false });
        const isTree = [run, other].every((each) => each instanceof RunTree);
        const symbols = Object.getOwnPropertySymbols(run.extra).map(String);
        console.log(JSON.stringify({
          ...{ before, config, isTree, symbols, name: run.name, tracing: [run.tracingEnabled, child.tracingEnabled] },
          missing: Object.keys(library).filter((field) => !Object.hasOwn(run, field)),
          extra: [run.extra.metadata, library.extra.metadata],
          child: [child.trace_id === run.trace_id, run.child_runs.length, run.id === run.trace_id],
          other: [other.child_runs.length, other.id === run.id, Object.keys(runOf({}))],
        }));
      });`;
    const output = printedWith({ untracedRuns: 'langchain-core/untraced-runs.ts' }, script);
    const expected = {
      ...{
        before: ['extra', 'tracingEnabled'],
        config: { tags: ['a'] },
        isTree: true,
        symbols: ['Symbol(lc:child_config)'],
      },
      ...{ name: '<runnable_lambda>', tracing: [false, false], missing: [], extra: [{}, {}] },
      ...{ child: [true, 1, true], other: [0, false, ['extra', 'tracingEnabled']] },
    };
    expectLibrary(
      output === JSON.stringify(expected),
      `LangChain makes runs of what isn't traced otherwise than the patch takes it to: ${output}`,
    );
  });
});
