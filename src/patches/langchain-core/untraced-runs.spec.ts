import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expectLibrary } from '../../../test/support/library-guard';

const required = (...path: string[]): string => `require(${JSON.stringify(join(__dirname, ...path))})`;

describe('the run of what is not traced', () => {
  it.each([
    ['CommonJS', `Promise.all(['@langchain/core/singletons', 'langsmith'].map((name) => require(name)))`],
    ['an ES module', `Promise.all(['@langchain/core/singletons', 'langsmith'].map((name) => import(name)))`],
  ])('is made where it is used, in %s', (_, load) => {
    // A process of its own, since jest has a loader of its own. Node strips the types.
    const script = `
      const { untracedRuns } = ${required('untraced-runs.ts')};
      ${required('..', '..', 'graphs', 'host', 'patched-sources.ts')}.patchSources([untracedRuns]);
      ${load}.then(([{ AsyncLocalStorageProviderSingleton: provider }, { RunTree }]) => {
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
    const output = execFileSync(process.execPath, ['-e', script], { cwd: __dirname, encoding: 'utf8', stdio: 'pipe' });
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
      output === `${JSON.stringify(expected)}\n`,
      `LangChain makes runs of what isn't traced otherwise than the patch takes it to: ${output}`,
    );
  });
});
