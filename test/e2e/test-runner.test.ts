import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { waitFor } from '../support/wait-for';

const ROOT = join(__dirname, '..', '..');
const run = promisify(execFile);
const moduleOf = (name: string): string =>
  JSON.stringify(pathToFileURL(join(ROOT, 'scripts', 'services', `${name}.mjs`)).href);

/** A function of the runner's own modules, called in a process of its own: jest loads no ES modules. */
async function call<T>(module: string, name: string, ...args: unknown[]): Promise<T> {
  const script = `import { ${name} } from ${moduleOf(module)};
    process.stdout.write(JSON.stringify(${name}(...${JSON.stringify(args)})) ?? 'null');`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script]);
  return JSON.parse(stdout) as T;
}

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

const judge = (...tries: object[]): Promise<Outcome> => call('test-outcome', 'judge', ...tries);

describe('the verdict on a test run', () => {
  it('counts the tests that passed and those that failed twice', async () => {
    const first = results({ a: { one: 'passed', two: 'failed' }, b: { three: 'passed' } });
    expect(await judge(first, results({ a: { one: 'passed', two: 'failed' } }))).toEqual({
      passed: 2,
      failed: [{ file: 'a', name: 'two' }],
      flaky: [],
    });
  });

  it('counts a test that passes at the second try as passed, and names it', async () => {
    const first = results({ a: { one: 'passed', two: 'failed' } });
    expect(await judge(first, results({ a: { one: 'passed', two: 'passed' } }))).toEqual({
      passed: 2,
      failed: [],
      flaky: [{ file: 'a', name: 'two' }],
    });
  });

  it('names a test that fails at the second try only', async () => {
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

  it('is a failure when more than two tests failed by chance', async () => {
    const names = ['one', 'two', 'three'];
    const all = (status: Status) => Object.fromEntries(names.map((name) => [name, status]));
    const { passed, failed } = await judge(results({ a: all('failed') }), results({ a: all('passed') }));
    expect([passed, failed.map(({ name }) => name)]).toEqual([0, names]);
  });
});

describe('several runs of the same tests', () => {
  const [one, two] = ['one', 'two'].map((name) => ({ file: 'a', name }));

  it('list the failed tests, the most frequent first, and the seeds', async () => {
    const rounds = [
      { passed: 9, failed: [one, two], seed: '11' },
      { passed: 11, failed: [], seed: '22' },
      { passed: 10, failed: [two], seed: '33' },
    ];
    expect((await call<string>('test-outcome', 'failuresByName', rounds)).split('\n')).toEqual([
      '   2 of 3  a: two  (seeds 11, 33)',
      '   1 of 3  a: one  (seeds 11)',
    ]);
    expect(await call('test-outcome', 'sumOf', rounds)).toEqual({ code: 1, passed: 30, failed: [one, two, two] });
  });

  it('report that nothing failed', async () => {
    const rounds = [{ passed: 1, failed: [], seed: '1' }];
    expect(await call('test-outcome', 'failuresByName', rounds)).toBe('No test failed in 1 round.');
    expect(await call('test-outcome', 'sumOf', rounds)).toEqual({ code: 0, passed: 1, failed: [] });
  });
});

describe('npm run chaos', () => {
  it('runs each file that npm test runs in a bounded form', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: { chaos: string } };
    const patterns = scripts.chaos.split(' ').slice(scripts.chaos.split(' ').indexOf('--full') + 1);
    const bounded = globSync('test/**/*.test.ts', { cwd: ROOT }).filter((path) =>
      /\bamount\(/.test(readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(bounded.length).toBeGreaterThan(5);
    expect(bounded.filter((path) => !patterns.some((pattern) => path.includes(pattern)))).toEqual([]);
  });
});

describe('the tests affected by a change', () => {
  const TESTS = [
    'src/crons/cron-schedule.spec.ts',
    'test/e2e/wire.test.ts',
    'test/faults/crons-kill.test.ts',
    'test/integration/crons.test.ts',
    'test/workflows/cron.test.ts',
  ];
  const touched = (...changed: string[]): Promise<unknown> => call('changed-tests', 'touchedTests', changed, TESTS);

  it('are those of a feature, by their names, and the specs that import the changed file', async () => {
    expect(await touched('src/crons/crons.service.ts')).toEqual({
      tests: ['test/faults/crons-kill.test.ts', 'test/integration/crons.test.ts', 'test/workflows/cron.test.ts'],
      importersOf: { specs: ['src/crons/crons.service.ts'], tests: [] },
    });
  });

  it('are a changed test itself, and those that import a changed helper', async () => {
    expect(await touched('test/e2e/wire.test.ts', 'test/support/sse.ts', 'docs/crons.md')).toEqual({
      tests: ['test/e2e/wire.test.ts'],
      importersOf: { specs: [], tests: ['test/support/sse.ts'] },
    });
  });

  it('are none for a page of documentation, or for a deleted test', async () => {
    expect(await touched('README.md', 'docs/operations.md', 'test/e2e/gone.test.ts')).toMatchObject({ tests: [] });
  });

  it.each(['src/runs/runs.service.ts', 'worker/main.ts', 'package-lock.json', 'test/support/graphs/ten.ts'])(
    'are all of them for %s, which may affect everything',
    async (file) => {
      expect(await touched('src/crons/crons.service.ts', file)).toEqual({ all: file });
    },
  );

  it('are found from git’s differences on a branch, including untracked files', async () => {
    const clone = mkdtempSync(join(tmpdir(), 'gantry-changed-'));
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], { cwd: clone });
    const write = (name: string, text: string): void => writeFileSync(join(clone, name), text);
    try {
      await git('init', '-q', '-b', 'main');
      for (const name of ['committed', 'edited', 'same']) write(name, 'before');
      await git('add', '.');
      await git('commit', '-qm', 'first');
      await git('switch', '-qc', 'feature');
      write('committed', 'after');
      await git('commit', '-qam', 'second');
      write('edited', 'after');
      write('new', 'after');
      const changed = await call<string[]>('changed-tests', 'changedFiles', clone, 'main');
      expect(changed.sort()).toEqual(['committed', 'edited', 'new']);
    } finally {
      rmSync(clone, { recursive: true });
    }
  });
});

describe('services that stay up between test runs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-test-runner-'));
  const path = join(folder, 'services.json');

  afterAll(() => rmSync(folder, { recursive: true }));

  it('are found while the process that owns them lives, and not after its death', async () => {
    expect(await call('test-services', 'findTestServices', path)).toBeNull();
    const script = join(folder, 'keeper.mjs');
    writeFileSync(
      script,
      `import { publishTestServices } from ${moduleOf('test-services')};
       publishTestServices({ GANTRY_TEST_S3: '{}' }, ${JSON.stringify(path)});
       process.stdout.write('up');
       setInterval(() => undefined, 1_000);`,
    );
    const keeper = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(keeper.stdout, 'data');
      expect(await call('test-services', 'findTestServices', path)).toEqual({ GANTRY_TEST_S3: '{}' });
    } finally {
      keeper.kill('SIGKILL');
      await once(keeper, 'exit');
    }
    expect(await call('test-services', 'findTestServices', path)).toBeNull();
  });
});

describe('a runner that is killed', () => {
  it('ends the process group of its tests', async () => {
    const script = `import { spawn } from 'node:child_process';
      import { endGroupOnDeath } from ${moduleOf('leftovers')};
      const { pid } = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1_000)'], { detached: true, stdio: 'ignore' });
      endGroupOnDeath(pid);
      process.stdout.write(String(pid));
      setInterval(() => undefined, 1_000);`;
    const runner = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [pid] = (await once(runner.stdout.setEncoding('utf8'), 'data')) as [string];
    runner.kill('SIGKILL');
    // In a container without an init process, what has ended keeps its entry.
    const hasEnded = () => !existsSync(`/proc/${pid}`) || readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
    await waitFor('the end of the tests', hasEnded);
  });
});

describe('a test that fails', () => {
  /** Runs a test file in jest, with the environment of all tests here. */
  async function runFile(source: string, env: Record<string, string> = {}): Promise<{ stderr: string }> {
    const rootDir = mkdtempSync(join(tmpdir(), 'gantry-failing-'));
    const root = join(__dirname, '..', '..');
    const testEnvironment = join(root, 'test', 'support', 'test-environment.cjs');
    try {
      writeFileSync(join(rootDir, 'failing.test.js'), source);
      const config = JSON.stringify({ rootDir, testEnvironment, transform: {} });
      const jest = [join(root, 'node_modules', 'jest', 'bin', 'jest.js'), '--config', config, '--runInBand'];
      return await run(process.execPath, jest, { cwd: rootDir, env: { ...process.env, ...env } }).then(
        () => Promise.reject(new Error('The test did not fail')),
        (error: { stderr: string }) => error,
      );
    } finally {
      rmSync(rootDir, { recursive: true });
    }
  }

  it('shows the output of the processes of its file, without passwords and without processes that had ended', async () => {
    const { stderr } = await runFile(
      `const output = (name, isClosed, ...lines) =>
         gantryOutputs.push({ name, lines, written: lines.length, shown: 0, isClosed });
       output('worker 1', true, 'ended before');
       output('worker 2', false, 'connects with s3cr3t');
       it('passes', () => {});
       it('fails', () => { throw new Error('on purpose'); });`,
      { GANTRY_TEST_DATABASE_URL: 'postgres://postgres:s3cr3t@127.0.0.1/gantry', GANTRY_TEST_S3: '' },
    );
    expect(stderr).toContain('wrote last, until “fails” failed:\n--- worker 2\nconnects with ***\n');
    expect(stderr).not.toContain('ended before');
  });

  it('says with its error in which fault a process has ended', async () => {
    const { stderr } = await runFile(
      `it('fails', () => {
         const lines = ['{"msg":"log"}', 'api.js:1', '  JSON.parse(s3cr3t)', 'SyntaxError: no JSON', '    at hear'];
         gantryOutputs.push({ name: 'api 7', lines, written: lines.length, shown: 0, isClosed: true });
         throw new Error('fetch failed');
       });`,
      { GANTRY_TEST_DATABASE_URL: 'postgres://postgres:s3cr3t@127.0.0.1/gantry', GANTRY_TEST_S3: '' },
    );
    const [, error] = stderr.split('● fails');
    expect(error).toMatch(/fetch failed\s+api 7 has ended:\s+api\.js:1\s+JSON\.parse\(\*\*\*\)\s+SyntaxError: no JSON/);
  });
});
