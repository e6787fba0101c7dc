import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

describe('a module that fails to load', () => {
  it('is reported with the line of the project that failed, and its traceback in the log', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gantry-failing-'));
    const app = join(folder, 'app.py');
    writeFileSync(app, 'from flows import graph\n');
    writeFileSync(join(folder, 'flows.py'), 'import json\n\ngraph = json.loads("{")\n');
    const script = `
import os, sys
from gantry_graphs.modules import load_export

os.chdir(sys.argv[1])
sys.stderr = sys.stdout
try:
    load_export(sys.argv[2], "graph", "a graph")
except ImportError as error:
    print("Message:", error)
`;
    try {
      const printed = await runPython(['-c', script, folder, app], { PYTHONPATH: SOURCES }, pythonForGraphs());
      const [log, message] = printed.split('Message: ');
      expect(log).toContain('graph = json.loads("{")');
      expect(message).toMatch(/app\.py failed to load: JSONDecodeError: .+ \(.+\/flows\.py:3\)\n$/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('a project that is installed from its folder src', () => {
  it('has each of its modules once, under the name by which it imports them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gantry-src-'));
    const [src, file] = [join(folder, 'src'), join(folder, 'src', 'my_agent', 'agent.py')];
    mkdirSync(join(src, 'my_agent'), { recursive: true });
    writeFileSync(file, 'graph = object()\n');
    const script = `
import os, sys
from gantry_graphs.modules import load_export

os.chdir(sys.argv[1])
graph = load_export(sys.argv[2], "graph", "a graph")
import my_agent.agent
print(my_agent.agent.graph is graph, "src.my_agent.agent" in sys.modules)
`;
    try {
      const printed = await runPython(
        ['-c', script, folder, file],
        { PYTHONPATH: `${SOURCES}:${src}` },
        pythonForGraphs(),
      );
      expect(printed.trim()).toBe('True False');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
