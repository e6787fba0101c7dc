import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startApiProcess } from '../support/api-process';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { runToExit, startGantry } from '../support/gantry';
import { DIST } from '../support/gantry-process';
import { pythonForGraphs } from '../support/python';
import { temporalAddress } from '../support/temporal';

const GRAPHS = join(__dirname, '..');
const JAVASCRIPT_GRAPH = `${join(GRAPHS, 'support', 'graphs', 'behaviours.ts')}:talk`;
const PYTHON_GRAPH = `${join(GRAPHS, 'python-graphs', 'project', 'my_agent', 'notes.py')}:graph`;

interface Configured extends Record<string, string> {
  GANTRY_CONFIG: string;
  GANTRY_PYTHON: string;
}

interface Asked {
  model: string;
  input: string | string[];
  dimensions?: number;
  encoding_format?: string;
}

const IN_PYTHON = `
from langchain_core.embeddings import Embeddings

number = 7

def embed(texts):
    return [[1.0, 0.0] if "tea" in text else [0.0, 1.0] for text in texts]

async def aembed(texts):
    return embed(texts)

class Contrary(Embeddings):
    def embed_documents(self, texts):
        return embed(texts)

    def embed_query(self, text):
        return [0, 1]

embeddings = Contrary()
`;

const LOAD_IN_JAVASCRIPT = `
const [path, sources] = process.argv.slice(1);
const { EmbeddingFunction } = require(path);
Promise.all(JSON.parse(sources).map((each) => EmbeddingFunction.load(each).then(() => '', ({ message }) => message)))
  .then((messages) => console.log(JSON.stringify(messages)));
`;

const LOAD_IN_PYTHON = `
import json, sys
from gantry_graphs.embeddings import EmbeddingFunction

def refusal(source):
    try:
        EmbeddingFunction.load(source)
    except ValueError as error:
        return str(error)

print(json.dumps([refusal(each) for each in json.loads(sys.argv[1])]))
`;

/** Values of `store.index.embed`, and the errors of those that can't be loaded. */
describe('the embedding function', () => {
  let folder: string;
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(() => database?.drop());

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-embed-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function configure(embed: string, env: Record<string, string> = {}): Configured {
    const path = join(folder, 'langgraph.json');
    const graph = embed.includes('.py:') ? PYTHON_GRAPH : JAVASCRIPT_GRAPH;
    writeFileSync(path, JSON.stringify({ graphs: { talk: graph }, env, store: { index: { dims: 2, embed } } }));
    return { GANTRY_CONFIG: path, GANTRY_PYTHON: pythonForGraphs() };
  }

  async function putAndFind(config: Configured): Promise<{ key: string; score: number }[]> {
    const api = await startApiProcess(config);
    const ask = (method: string, path: string, body: object): Promise<Response> =>
      fetch(`${api.url}/store${path}`, {
        method,
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      });
    try {
      for (const key of ['tea', 'coffee']) {
        expect((await ask('PUT', '/items', { namespace: ['a'], key, value: { text: key } })).status).toBe(204);
      }
      const found = await ask('POST', '/items/search', { query: 'some tea' });
      return ((await found.json()) as { items: { key: string; score: number }[] }).items;
    } finally {
      await api.close();
    }
  }

  it("is a provider's model, called by its own client with the key of the graphs' environment", async () => {
    const asked: (Asked & { key: string | undefined })[] = [];
    const provider: Server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      request.on('end', () => {
        const body = JSON.parse(text) as Asked;
        asked.push({ ...body, key: request.headers.authorization });
        const data = [body.input].flat().map((input, index) => {
          const vector = input.includes('tea') ? [1, 0] : [0, 1];
          const embedding =
            body.encoding_format === 'base64'
              ? Buffer.from(new Float32Array(vector).buffer).toString('base64')
              : vector;
          return { object: 'embedding', index, embedding };
        });
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data }));
      });
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    try {
      const OPENAI_BASE_URL = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
      const found = await putAndFind(
        configure('openai:text-embedding-3-small', { OPENAI_API_KEY: 'of-the-graphs', OPENAI_BASE_URL }),
      );
      expect(found.map(({ key }) => key)).toEqual(['tea', 'coffee']);
      expect(asked).toHaveLength(3);
      for (const each of asked) {
        expect(each).toMatchObject({ model: 'text-embedding-3-small', dimensions: 2, key: 'Bearer of-the-graphs' });
      }
    } finally {
      provider.close();
    }
  });

  it('is an Embeddings object, which may embed questions in another way', async () => {
    writeFileSync(
      join(folder, 'embed.ts'),
      `export const embeddings: object = {
         embedDocuments: async (texts: string[]) => texts.map((text) => new Float32Array(text.includes('tea') ? [1, 0] : [0, 1])),
         embedQuery: async (text: string) => [0, 1],
       };`,
    );
    expect((await putAndFind(configure('./embed.ts:embeddings'))).map(({ key }) => key)).toEqual(['coffee', 'tea']);
  });

  it.each([
    ['an Embeddings object', 'embed.py:embeddings', ['coffee', 'tea']],
    ['a function', 'embed.py:embed', ['tea', 'coffee']],
    ['an async function', 'embed.py:aembed', ['tea', 'coffee']],
  ])('is %s in Python', async (_, embed, found) => {
    writeFileSync(join(folder, 'embed.py'), IN_PYTHON);
    expect((await putAndFind(configure(`./${embed}`))).map(({ key }) => key)).toEqual(found);
  });

  it('in Python serves nodes in JavaScript', async () => {
    writeFileSync(join(folder, 'embed.py'), IN_PYTHON);
    writeFileSync(
      join(folder, 'finder.mjs'),
      `import { Annotation, START, StateGraph } from ${JSON.stringify(require.resolve('@langchain/langgraph'))};
       const State = Annotation.Root({ found: Annotation() });
       export const graph = new StateGraph(State).addNode('find', async (_, { store }) => {
         for (const key of ['tea', 'coffee']) await store.put(['a'], key, { text: key });
         const items = await store.search([], { query: 'some tea' });
         return { found: items.map(({ key, score }) => [key, score]) };
       }).addEdge(START, 'find').compile();`,
    );
    const config = join(folder, 'langgraph.json');
    const store = { index: { dims: 2, embed: './embed.py:embed' } };
    writeFileSync(config, JSON.stringify({ graphs: { finder: './finder.mjs:graph', notes: PYTHON_GRAPH }, store }));
    const gantry = await startGantry({ graphs: config, graphProcesses: 1 });
    try {
      const { found } = (await gantry.client().runs.wait(null, 'finder', { input: {} })) as { found: unknown };
      expect(found).toEqual([
        ['tea', 1],
        ['coffee', 0],
      ]);
    } finally {
      await gantry.stop();
    }
  });

  it('prevents the start when it is broken in Python, also where graphs are in JavaScript', async () => {
    writeFileSync(join(folder, 'embed.py'), IN_PYTHON);
    const config = join(folder, 'langgraph.json');
    const store = { index: { dims: 2, embed: './embed.py:absent' } };
    writeFileSync(config, JSON.stringify({ graphs: { talk: JAVASCRIPT_GRAPH }, store }));
    const { code, output } = await runToExit('api', {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporalAddress(),
      GANTRY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      GANTRY_PORT: '0',
      GANTRY_CONFIG: config,
      GANTRY_PYTHON: pythonForGraphs(),
    });
    expect(code).toBe(1);
    expect(output).toMatch(/embed\.py has no "absent"/);
  });

  it('prevents the start when it is broken in TypeScript', async () => {
    writeFileSync(join(folder, 'embed.ts'), 'export const number = 7;');
    const { code, output } = await runToExit('api', {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporalAddress(),
      GANTRY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      GANTRY_PORT: '0',
      ...configure('./embed.ts:absent'),
    });
    expect(code).toBe(1);
    expect(output).toMatch(/store\.index\.embed: .*embed\.ts has no export "absent"/);
  });

  /** What a graph process says of functions that it can't load, by its own code and without its start. */
  async function refusalsOf(language: 'javascript' | 'python', sources: object[]): Promise<string[]> {
    const asked = JSON.stringify(sources);
    const [command, args] =
      language === 'python'
        ? [pythonForGraphs(), ['-c', LOAD_IN_PYTHON, asked]]
        : [
            process.execPath,
            ['-e', LOAD_IN_JAVASCRIPT, join(DIST, 'src', 'graphs', 'host', 'embedding-function'), asked],
          ];
    const env = { ...process.env, NODE_OPTIONS: '', PYTHONPATH: join(GRAPHS, '..', 'python') };
    const { stdout } = await promisify(execFile)(command, args, { env });
    return JSON.parse(stdout) as string[];
  }

  it('is refused by name when it is of another kind, is missing, or belongs to an unknown provider', async () => {
    writeFileSync(join(folder, 'embed.mjs'), 'export const number = 7;');
    writeFileSync(join(folder, 'embed.py'), IN_PYTHON);
    writeFileSync(join(folder, 'broken.mjs'), 'throw new Error("broken on purpose");');
    const named = (file: string, exportName: string): object => ({
      dims: 2,
      embed: { kind: 'function', file: join(folder, file), exportName },
    });
    const of = (provider: string, model: string): object => ({
      dims: 2,
      embed: { kind: 'provider', provider, model, folder },
    });
    const [javascript, python] = await Promise.all([
      refusalsOf('javascript', [
        of('nobody', 'model'),
        of('cohere', 'embed-v3'),
        named('embed.mjs', 'number'),
        named('broken.mjs', 'embed'),
      ]),
      refusalsOf('python', [named('embed.py', 'absent'), named('embed.py', 'number')]),
    ]);
    expect(javascript).toEqual([
      expect.stringMatching(/^store\.index\.embed: "nobody" is not a provider/),
      expect.stringMatching(/^store\.index\.embed: the package @langchain\/cohere is not installed: run "npm install/),
      expect.stringMatching(/^store\.index\.embed: .*"number" is neither a function nor an Embeddings object/),
      expect.stringMatching(/^store\.index\.embed: broken on purpose/),
    ]);
    expect(python).toEqual([
      expect.stringMatching(/^store\.index\.embed: .*embed\.py has no "absent"; it has to be a function of texts/),
      expect.stringMatching(/^store\.index\.embed: .*"number" is a value of the type int; it has to be/),
    ]);
  });
});
