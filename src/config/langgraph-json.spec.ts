import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from './config-error';
import { parseLanggraphJson, readProjectFile } from './langgraph-json';

const readLanggraphJson = (path: string) => parseLanggraphJson(readProjectFile(path));

describe('langgraph.json', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-config-'));
    for (const name of ['a.ts', 'b:c.ts']) writeFileSync(join(folder, name), '');
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const write = (content: unknown): string => {
    const path = join(folder, 'langgraph.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };

  function problemsOf(content: unknown): string[] {
    try {
      readLanggraphJson(write(content));
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
    return [];
  }

  it('refuses prompts that share a name, or have placeholders without an argument', () => {
    const prompt = { name: 'sum', messages: [{ content: 'Sum up {{ text }}' }] };
    const graph = (...prompts: object[]) => ({ path: './a.ts:graph', mcp: { prompts } });
    const args = [{ name: 'text' }];
    expect(problemsOf({ graphs: { a: graph(prompt) } })).toEqual([
      expect.stringMatching(/graphs\.a\.mcp\.prompts\.0\.messages\.0\.content.*\{\{text\}\} is no argument/),
    ]);
    const sound = { ...prompt, arguments: args };
    expect(problemsOf({ graphs: { a: graph(sound), b: graph(sound) } })).toEqual([
      expect.stringMatching(/graphs\.b\.mcp\.prompts\.0\.name.*the graph a has a prompt of the name sum/),
    ]);
    expect(problemsOf({ graphs: { a: graph(sound) } })).toEqual([]);
  });

  it('accepts a graph as a path with an export, and as an object', () => {
    const graphs = {
      short: './a.ts:graph',
      long: { path: './a.ts:make', description: 'Makes', on_unknown: 'interrupt', threads: 1 },
    };
    expect(readLanggraphJson(write({ graphs })).graphs).toEqual([
      { graphId: 'short', file: join(folder, 'a.ts'), exportName: 'graph', language: 'javascript', onUnknown: 'retry' },
      {
        graphId: 'long',
        file: join(folder, 'a.ts'),
        exportName: 'make',
        language: 'javascript',
        description: 'Makes',
        onUnknown: 'interrupt',
        threads: 1,
      },
    ]);
  });

  it('splits path and export at the last colon', () => {
    const [graph] = readLanggraphJson(write({ graphs: { odd: './b:c.ts:graph' } })).graphs;
    expect(graph).toMatchObject({ file: join(folder, 'b:c.ts'), exportName: 'graph' });
  });

  it('uses the default export of a script that names none', () => {
    const [graph] = readLanggraphJson(write({ graphs: { a: './a.ts' } })).graphs;
    expect(graph).toMatchObject({ file: join(folder, 'a.ts'), exportName: 'default' });
  });

  it('finds modules of Python in the folders of its dependencies', () => {
    const agents = join(folder, 'backend', 'agents');
    mkdirSync(agents, { recursive: true });
    for (const name of ['__init__.py', 'main.py']) writeFileSync(join(agents, name), '');
    const dependencies = ['langchain', '.', './backend', './absent', './a.ts'];
    const path = write({ dependencies, graphs: { a: 'agents.main:graph' }, http: { app: 'agents:app' } });
    const config = readLanggraphJson(path);
    expect(config.importFolders).toEqual([join(folder, 'backend')]);
    expect(config.graphs).toMatchObject([{ file: join(agents, 'main.py'), language: 'python' }]);
    expect(problemsOf({ dependencies, graphs: { a: 'agents.absent:graph' } })).toEqual([
      `${path}: graphs.a: there is no Python module agents.absent in ${folder} or ${join(folder, 'backend')} or ${join(folder, 'src')}`,
    ]);
    expect(problemsOf({ dependencies: './backend', graphs: { a: './a.ts:graph' } })).toEqual([
      expect.stringContaining('dependencies: '),
    ]);
  });

  it('ignores what concerns image builds only', () => {
    const config = { node_version: '20', dependencies: ['.'], dockerfile_lines: [], graphs: { a: './a.ts:graph' } };
    expect(problemsOf(config)).toEqual([]);
  });

  it('reads the environment from an object or a file', () => {
    const graphs = { a: './a.ts:graph' };
    expect(readLanggraphJson(write({ graphs })).env).toEqual({});
    expect(readLanggraphJson(write({ graphs, env: { A: '1' } })).env).toEqual({ A: '1' });
    writeFileSync(join(folder, '.env'), '# a comment\nB="two words"\n');
    expect(readLanggraphJson(write({ graphs, env: '.env' })).env).toEqual({ B: 'two words' });
  });

  it('reads how the store embeds items and expires them', () => {
    const graphs = { a: './a.ts:graph' };
    expect(readLanggraphJson(write({ graphs })).store).toEqual({ refreshOnRead: true });
    const ttl = { default_ttl: 1.5, refresh_on_read: false, sweep_interval_minutes: 10 };
    expect(
      readLanggraphJson(write({ graphs, store: { ttl, index: { dims: 4, embed: './a.ts:embed' } } })).store,
    ).toEqual({
      index: {
        dims: 4,
        embed: { kind: 'function', file: join(folder, 'a.ts'), exportName: 'embed', language: 'javascript' },
        fields: ['$'],
      },
      defaultTtlMinutes: 1.5,
      refreshOnRead: false,
      sweepIntervalMinutes: 10,
    });
    const index = { dims: 512, embed: 'openai:text-embedding-3-small', fields: ['text'] };
    expect(readLanggraphJson(write({ graphs, store: { index } })).store.index).toEqual({
      dims: 512,
      embed: { kind: 'provider', provider: 'openai', model: 'text-embedding-3-small', folder },
      fields: ['text'],
    });
  });

  it('reads how long threads are kept', () => {
    const graphs = { a: './a.ts:graph' };
    expect(readLanggraphJson(write({ graphs })).threadTtl).toEqual({ sweepIntervalMinutes: 5, sweepLimit: 10_000 });
    const ttl = { strategy: 'keep_latest', default_ttl: 1.5, sweep_interval_minutes: 60, sweep_limit: 10 };
    expect(readLanggraphJson(write({ graphs, checkpointer: { ttl } })).threadTtl).toEqual({
      default: { strategy: 'keep_latest', minutes: 1.5 },
      sweepIntervalMinutes: 60,
      sweepLimit: 10,
    });
  });

  it.each([
    [{ ttl: { strategy: 'archive' } }, 'checkpointer.ttl.strategy'],
    [{ ttl: { default_ttl: -1 } }, 'checkpointer.ttl.default_ttl'],
    [{ path: './a.ts:saver' }, 'checkpointer.path'],
  ])('names what is wrong in the checkpointer %j', (checkpointer, field) => {
    const [problem] = problemsOf({ graphs: { a: './a.ts:graph' }, checkpointer });
    expect(problem).toContain(field);
  });

  it.each([
    ['no dims', { index: { embed: 'openai:x' } }, 'store.index.dims'],
    ['dims of zero', { index: { dims: 0, embed: 'openai:x' } }, 'store.index.dims'],
    ['an embed without a provider', { index: { dims: 4, embed: 'text-embedding' } }, 'store.index.embed'],
    [
      'an embed that does not exist',
      { index: { dims: 4, embed: './no.ts:embed' } },
      'store.index.embed: there is no file',
    ],
    ['no fields', { index: { dims: 4, embed: 'openai:x', fields: [] } }, 'store.index.fields'],
    ['a ttl of zero', { ttl: { default_ttl: 0 } }, 'store.ttl.default_ttl'],
    ['a store of their own', { path: './a.ts:store' }, 'store.path'],
  ])('names what is wrong in a store with %s', (_, store, field) => {
    const [problem] = problemsOf({ graphs: { a: './a.ts:graph' }, store });
    expect(problem).toContain(field);
  });

  it.each([
    ['no graphs', {}, 'graphs'],
    ['an empty list of them', { graphs: {} }, 'must name at least one graph'],
    ['a graph of no script without an export', { graphs: { a: './a.py' } }, 'graphs.a'],
    ['a graph that is a number', { graphs: { a: 7 } }, 'graphs.a'],
    ['an environment that is a list', { graphs: { a: './a.ts:graph' }, env: [] }, 'env'],
    [
      'another number of threads',
      { graphs: { a: { path: './a.ts:graph', threads: 2 } } },
      'graphs.a.threads: must be 1',
    ],
    ['an unknown choice', { graphs: { a: { path: './a.ts:graph', on_unknown: 'pray' } } }, 'graphs.a'],
  ])('names the file and the field of %s', (_, content, field) => {
    const problems = problemsOf(content);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(join(folder, 'langgraph.json'));
    expect(problems[0]).toContain(field);
  });

  it('names every missing file at once', () => {
    const problems = problemsOf({
      graphs: { x: './x.ts:graph', a: './a.ts:graph', y: './y.ts:graph' },
      env: '.env.no',
    });
    expect(problems).toEqual([
      expect.stringContaining(`graphs.x: there is no file ${join(folder, 'x.ts')}`),
      expect.stringContaining(`graphs.y: there is no file ${join(folder, 'y.ts')}`),
      expect.stringContaining(`env: there is no file ${join(folder, '.env.no')}`),
    ]);
  });

  it('reports where JSON is invalid, and that a file does not exist', () => {
    expect(problemsOf('{"graphs":')[0]).toMatch(/langgraph\.json: not valid JSON: /);
    expect(() => readLanggraphJson(join(folder, 'none.json'))).toThrow(/none\.json: there is no such file/);
  });

  it('accepts custom encryption in Python, and refuses it in JavaScript, whose SDK has none', () => {
    const encryption = { path: './encryption.py:mine' };
    writeFileSync(join(folder, 'encryption.py'), '');
    expect(readLanggraphJson(write({ graphs: { a: './a.ts:graph' }, encryption })).encryption).toEqual({
      file: join(folder, 'encryption.py'),
      exportName: 'mine',
    });
    const path = write({ graphs: { a: './a.ts:graph' }, encryption: { path: './a.ts:mine' } });
    expect(() => readLanggraphJson(path)).toThrow(/encryption\.path: has to be a Python file/);
  });

  it('lists the problems of all sections at once, followed by missing modules', () => {
    const graphs = { agent: './a.ts:graph' };
    const problems = problemsOf({ graphs, http: { mount_prefix: 'x' }, webhooks: { url: { allowed_ports: [0] } } });
    expect(problems.map((problem) => problem.replace(/^.*langgraph\.json: (\S+): .*/s, '$1')).sort()).toEqual([
      'http.mount_prefix',
      'webhooks.url.allowed_ports.0',
    ]);
    expect(problemsOf({ graphs: { agent: './b.ts:graph' }, http: { app: './missing.ts:app' } })).toEqual([
      expect.stringContaining(`graphs.agent: there is no file ${join(folder, 'b.ts')}`),
      expect.stringContaining(`http.app: there is no file ${join(folder, 'missing.ts')}`),
    ]);
  });
});
