/**
 * @library @langchain/core 1.4.0
 * @patch Replaces the expression `new RunTree({ name: "<runnable_lambda>", tracingEnabled: false })` in the module
 * `singletons/async_local_storage`.
 * @why Wherever a graph isn't traced, the library makes such a run for each node, branch and write of each step, of which it reads
 * only what it adds itself: a fifth of the time of a graph whose nodes do little.
 * @upstream None known.
 * @remove When the library keeps its config without a run tree.
 */

const EXPRESSION = /new ((?:\w+\.)?RunTree)\(\{\s*name: "<runnable_lambda>",\s*tracingEnabled: false,?\s*\}\)/;

/** Returns a run that gets the fields of the library's own when one of them is read for the first time, as by `traceable` in a node. */
const FUNCTION = `
let untracedRuns;
function untracedRun(RunTree) {
  untracedRuns ??= untracedRunsOf(() => new RunTree({ name: '<runnable_lambda>', tracingEnabled: false }));
  const run = Object.create(untracedRuns);
  // The library reads these two.
  run.extra = { metadata: {} };
  run.tracingEnabled = false;
  return run;
}
function untracedRunsOf(make) {
  const whole = make();
  const others = Object.keys(whole).filter((field) => field !== 'extra' && field !== 'tracingEnabled');
  const fields = others.map((field) => [field, {
    get() {
      const own = Object.getOwnPropertyDescriptors(this);
      Object.defineProperties(this, { ...Object.getOwnPropertyDescriptors(make()), ...own });
      return this[field];
    },
    set(value) {
      Object.defineProperty(this, field, { value, configurable: true, enumerable: true, writable: true });
    },
  }]);
  return Object.create(Object.getPrototypeOf(whole), Object.fromEntries(fields));
}
`;

/** Makes the runs of what isn't traced only where they are used, in versions of the library that have the expression. */
export const untracedRuns = {
  module: /\/@langchain\/core\/dist\/singletons\/async_local_storage\/index\.(cjs|js)$/,
  patch: (source: string): string => {
    return EXPRESSION.test(source) ? source.replace(EXPRESSION, 'untracedRun($1)') + FUNCTION : source;
  },
};
