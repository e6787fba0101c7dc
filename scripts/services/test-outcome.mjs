/**
 * The outcome of one run of the suite, and of a second attempt at the files that failed, from jest's results.
 *
 * @typedef {{ file: string, name: string }} TestName `name` is the file's own path where the file didn't load
 * @typedef {{ passed: number, failed: TestName[], flaky: TestName[] }} Outcome
 * @typedef {{ passed: number, failed: TestName[], seed: string }} Round one of several runs of the same tests
 */

/** Maximum number of flaky tests: a suite with more is not to be trusted. */
export const MAX_FLAKY = 2;

/**
 * The tests that failed. A file that doesn't load has no tests to count: it counts as one.
 * @param {any} results what `jest --json` writes
 * @returns {TestName[]}
 */
export function failuresOf(results) {
  return results.testResults.flatMap((/** @type {any} */ { name: file, status, assertionResults }) => {
    const failed = assertionResults.filter((/** @type {any} */ test) => test.status === 'failed');
    if (failed.length === 0 && status === 'failed') return [{ file, name: file }];
    return failed.map((/** @type {any} */ { fullName }) => ({ file, name: fullName }));
  });
}

/**
 * Judges a run of the suite by its second try. A test that failed in one of the two tries only is flaky: it counts as
 * passed as long as there are few of them, and as failed otherwise.
 * @param {any} first jest's results of all files
 * @param {any} [second] jest's results of the files that failed
 * @returns {Outcome}
 */
export function judge(first, second) {
  const failures = failuresOf(first);
  const { numPassedTests: passed } = first;
  if (!second || failures.length === 0) return { passed, failed: failures, flaky: [] };
  const key = (/** @type {TestName} */ { file, name }) => JSON.stringify([file, name]);
  const again = failuresOf(second);
  const repeated = new Set(again.map(key));
  const known = new Set(failures.map(key));
  const failed = failures.filter((test) => repeated.has(key(test)));
  const flaky = [
    ...failures.filter((test) => !repeated.has(key(test))),
    ...again.filter((test) => !known.has(key(test))), // Passed in the first run.
  ];
  const recovered = failures.length - failed.length;
  if (flaky.length > MAX_FLAKY)
    return { passed: passed - (flaky.length - recovered), failed: [...failed, ...flaky], flaky };
  return { passed: passed + recovered, failed, flaky };
}

/**
 * The outcome of several runs of the same tests.
 * @param {Round[]} rounds
 */
export function sumOf(rounds) {
  const failed = rounds.flatMap((round) => round.failed);
  return { code: Number(failed.length > 0), passed: rounds.reduce((sum, { passed }) => sum + passed, 0), failed };
}

/**
 * The tests that failed in several runs, by name, the most frequent first.
 * @param {Round[]} rounds
 */
export function failuresByName(rounds) {
  /** @type {Map<string, string[]>} */
  const seeds = new Map();
  for (const { failed, seed } of rounds) {
    for (const { file, name } of failed) {
      const test = `${file}: ${name}`;
      seeds.set(test, [...(seeds.get(test) ?? []), seed]);
    }
  }
  const lines = [...seeds]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(
      ([test, { length }]) =>
        `${String(length).padStart(4)} of ${rounds.length}  ${test}  (seeds ${seeds.get(test)?.join(', ')})`,
    );
  return lines.length > 0
    ? lines.join('\n')
    : `No test failed in ${rounds.length} round${rounds.length === 1 ? '' : 's'}.`;
}

/**
 * A table of where the processor time of a run went, the most expensive files first.
 * @param {{ file: string, wall: number, own: number, children: number, processes: number }[]} measured seconds by file
 * @param {[name: string, seconds: number | undefined][]} services those of the services; undefined where they can't be measured
 */
export function processorTimes(measured, services) {
  const files = [...measured].sort((a, b) => b.own + b.children - (a.own + a.children));
  const sum = (/** @type {'wall' | 'own' | 'children' | 'processes'} */ key) =>
    files.reduce((total, file) => total + file[key], 0);
  const all = {
    file: 'all',
    wall: sum('wall'),
    own: sum('own'),
    children: sum('children'),
    processes: sum('processes'),
  };
  const row = (/** @type {(string | number)[]} */ ...[file, ...cells]) =>
    cells.map((cell) => String(cell).padStart(10)).join('') + `  ${file}`;
  return [
    'Seconds of each file, and of processors in jest and in the processes that the file started:',
    row('file', 'wall', 'jest', 'processes', 'started'),
    ...[all, ...files].map(({ file, wall, own, children, processes }) =>
      row(file, wall.toFixed(1), own.toFixed(1), children.toFixed(1), processes),
    ),
    ...services.map(([name, seconds]) => `${seconds?.toFixed(1) ?? '?'} seconds of processors in ${name}`),
  ].join('\n');
}
