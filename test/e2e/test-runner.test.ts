import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const MODULE = pathToFileURL(join(__dirname, '..', '..', 'scripts', 'services', 'test-outcome.mjs')).href;

interface Outcome {
  passed: number;
  failed: { file: string; name: string }[];
  flaky: { file: string; name: string }[];
}

type Status = 'passed' | 'failed';

/** What jest writes of files with these tests; null stands for a file that didn't load. */
function results(files: Record<string, Record<string, Status> | null>): object {
  const tests = Object.values(files).flatMap((file) => Object.values(file ?? {}));
  return {
    numPassedTests: tests.filter((status) => status === 'passed').length,
    testResults: Object.entries(files).map(([name, file]) => ({
      name,
      status: file && !Object.values(file).includes('failed') ? 'passed' : 'failed',
      assertionResults: Object.entries(file ?? {}).map(([fullName, status]) => ({ fullName, status })),
    })),
  };
}

/** The judgement of the runner's own module, in a process of its own: jest loads no ES modules. */
async function judge(...tries: object[]): Promise<Outcome> {
  const script = `import { judge } from ${JSON.stringify(MODULE)};
    process.stdout.write(JSON.stringify(judge(...${JSON.stringify(tries)})));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return JSON.parse(stdout) as Outcome;
}

describe('the judgement of a test run', () => {
  it('counts what passed and what failed twice', async () => {
    const first = results({ a: { one: 'passed', two: 'failed' }, b: { three: 'passed' } });
    expect(await judge(first, results({ a: { one: 'passed', two: 'failed' } }))).toEqual({
      passed: 2,
      failed: [{ file: 'a', name: 'two' }],
      flaky: [],
    });
  });

  it('counts a test that passes on the second try as passed, and names it', async () => {
    const first = results({ a: { one: 'passed', two: 'failed' } });
    expect(await judge(first, results({ a: { one: 'passed', two: 'passed' } }))).toEqual({
      passed: 2,
      failed: [],
      flaky: [{ file: 'a', name: 'two' }],
    });
  });

  it('names a test that fails on the second try only', async () => {
    const first = results({ a: { one: 'passed', two: 'failed' } });
    expect(await judge(first, results({ a: { one: 'failed', two: 'failed' } }))).toEqual({
      passed: 1,
      failed: [{ file: 'a', name: 'two' }],
      flaky: [{ file: 'a', name: 'one' }],
    });
  });

  it('counts a file that does not load as a failed test', async () => {
    expect(await judge(results({ a: null, b: { one: 'passed' } }), results({ a: null }))).toEqual({
      passed: 1,
      failed: [{ file: 'a', name: 'a' }],
      flaky: [],
    });
  });

  it('fails a run in which more than two tests failed by chance', async () => {
    const names = ['one', 'two', 'three'];
    const all = (status: Status) => Object.fromEntries(names.map((name) => [name, status]));
    const { passed, failed } = await judge(results({ a: all('failed') }), results({ a: all('passed') }));
    expect([passed, failed.map(({ name }) => name)]).toEqual([0, names]);
  });
});
