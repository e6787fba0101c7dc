import { join } from 'node:path';
import { pythonForGraphs, runPython } from '../support/python';

const SOURCES = join(__dirname, '..', '..', 'python');
/** Folders of graphs. */
const GRAPHS = [
  join(__dirname, 'project'),
  join(__dirname, '..', 'support', 'graphs'),
  join(__dirname, '..', '..', 'examples'),
];

/** Lint and type check of the Python code, as ESLint and tsc check TypeScript. */
describe('the Python sources', () => {
  const settings = join(SOURCES, 'pyproject.toml');

  it.each([
    ['are formatted', ['ruff', 'format', '--check']],
    ['pass the linter', ['ruff', 'check']],
  ])('%s', async (_, command) => {
    await runPython(['-m', ...command, '--no-cache', '--config', settings, SOURCES, ...GRAPHS]);
  });

  it('pass the strict type check against the libraries that graphs run with', async () => {
    const python = ['--python-executable', pythonForGraphs(), '--cache-dir', '/dev/null'];
    await runPython(['-m', 'mypy', '--config-file', settings, ...python, join(SOURCES, 'gantry_graphs')]);
  }, 300_000);
});
