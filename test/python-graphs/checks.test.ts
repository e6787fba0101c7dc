import { join } from 'node:path';
import { pythonForGraphs, runPython } from '../support/python';

const SOURCES = join(__dirname, '..', '..', 'python');
const PROJECT = join(__dirname, 'project');

/** What lint and type check are to TypeScript. */
describe('the Python sources', () => {
  const settings = join(SOURCES, 'pyproject.toml');

  it.each([
    ['are formatted', ['ruff', 'format', '--check']],
    ['pass the linter', ['ruff', 'check']],
  ])('%s', async (_, command) => {
    await runPython(['-m', ...command, '--no-cache', '--config', settings, SOURCES, PROJECT]);
  });

  it('pass the strict type check against the libraries that graphs run with', async () => {
    const python = ['--python-executable', pythonForGraphs(), '--cache-dir', '/dev/null'];
    await runPython(['-m', 'mypy', '--config-file', settings, ...python, join(SOURCES, 'gantry_graphs')]);
  }, 300_000);
});
