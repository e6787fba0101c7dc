import { join } from 'node:path';
import { installWorkspace, type WorkspaceManager } from '../support/app';
import { startGantry, type Gantry } from '../support/gantry';
import { answeringGraph, layOutProject, type Project } from '../support/project';

/** An application as a monorepo has it: aliases, workspaces, prompts beside the code, variables in a file. */
function monorepo(): Project {
  return layOutProject(
    {
      'package.json': { name: 'acme', private: true, workspaces: ['apps/*', 'packages/*'] },
      'pnpm-workspace.yaml': 'packages:\n  - apps/*\n  - packages/*\n',
      'packages/tools/package.json': { name: '@acme/tools', version: '1.0.0', main: './src/index.ts' },
      'packages/tools/src/index.ts': "export { shout } from './shout';\n",
      'packages/tools/src/shout.ts': 'export const shout = (text: string): string => `${text}!`;\n',
      'packages/words/package.json': {
        name: '@acme/words',
        version: '1.0.0',
        type: 'module',
        exports: { './greeting': './src/greeting.ts' },
      },
      'packages/words/src/greeting.ts':
        "import { shout } from '@acme/tools';\nexport const greeting: string = shout('hello');\n",
      'apps/agent/langgraph.json': {
        node_version: '20',
        graphs: {
          esm: './src/agent/graph.ts:graph',
          commonjs: '../legacy/graph.ts:graph',
          unnamed: '../legacy/unnamed.ts',
        },
        env: '.env',
      },
      'apps/agent/.env': 'ACME_FROM_ENV=given\n',
      'apps/agent/package.json': {
        name: 'agent',
        type: 'module',
        imports: { '#config/*': './src/config/*.ts' },
        dependencies: { '@acme/tools': 'workspace:*', '@acme/words': 'workspace:*' },
      },
      'apps/agent/tsconfig.json': `{
        // As "create" commands write it.
        "compilerOptions": { "target": "ES2022", "module": "ESNext", "moduleResolution": "bundler",
          "baseUrl": ".", "paths": { "@/*": ["./src/*"], "~prompts/*": ["prompts/*"] } },
        "include": ["src"]
      }`,
      'apps/agent/prompts/system.md': 'You are *helpful*.\n',
      'apps/agent/prompts/short.prompt': 'Be short.',
      'apps/agent/src/lib/text.ts':
        "import limits from '@/lib/limits.json';\nexport const most: number = limits.most;\n",
      'apps/agent/src/lib/limits.json': { most: 7 },
      'apps/agent/src/config/model.ts': "export const model: string = 'small';\n",
      'apps/agent/src/agent/state.ts': "export const state: string = 'js names a ts file';\n",
      'apps/agent/src/agent/graph.ts': answeringGraph(
        `import { readFileSync } from 'node:fs';
import { most } from '@/lib/text';
import { model } from '#config/model';
import { shout } from '@acme/tools';
import { greeting } from '@acme/words/greeting';
import system from '~prompts/system.md';
import short from '../../prompts/short.prompt' with { type: 'text' };
import limits from '../lib/limits.json' with { type: 'json' };
import { most as fromBase } from 'src/lib/text';
import { state } from './state.js';
const atLoad = readFileSync('./prompts/system.md', 'utf8');`,
        `{ most, model, shouted: shout('hey'), greeting, system, short, limits, fromBase, state, atLoad,
           atRun: readFileSync('prompts/system.md', 'utf8'), cwd: process.cwd(), env: process.env.ACME_FROM_ENV }`,
      ),
      'apps/legacy/package.json': { name: 'legacy' },
      'apps/legacy/notes.txt': 'Noted.',
      'apps/legacy/unnamed.ts': `${answeringGraph('', "'by default'")}export default graph;\n`,
      'apps/legacy/graph.ts': answeringGraph(
        `import { shout } from '@acme/tools';
import notes from './notes.txt';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import 'dotenv/config';`,
        `{ shouted: shout('old'), notes, there: readFileSync(join(__dirname, 'notes.txt'), 'utf8'), cwd: process.cwd() }`,
      ),
    },
    { '@acme/tools': 'packages/tools', '@acme/words': 'packages/words' },
  );
}

describe('a project in a folder of its own', () => {
  let project: Project;
  let gantry: Gantry;

  beforeAll(async () => {
    project = monorepo();
    gantry = await startGantry({ graphProcesses: 1, graphs: project.path('apps/agent/langgraph.json') });
  });

  afterAll(async () => {
    await gantry?.stop();
    project?.remove();
  });

  const answerOf = async (graph: string): Promise<unknown> => {
    const values = await gantry.client().runs.wait(null, graph, { input: {} });
    return (values as { answer?: unknown }).answer ?? values;
  };

  it('resolves its aliases, workspaces and imports of package.json, and reads its files from its own folder', async () => {
    expect(await answerOf('esm')).toEqual({
      most: 7,
      model: 'small',
      shouted: 'hey!',
      greeting: 'hello!',
      system: 'You are *helpful*.\n',
      short: 'Be short.',
      limits: { most: 7 },
      fromBase: 7,
      state: 'js names a ts file',
      atLoad: 'You are *helpful*.\n',
      atRun: 'You are *helpful*.\n',
      cwd: project.path('apps/agent'),
      env: 'given',
    });
  });

  it('may be CommonJS', async () => {
    expect(await answerOf('commonjs')).toEqual({
      shouted: 'old!',
      notes: 'Noted.',
      there: 'Noted.',
      cwd: project.path('apps/agent'),
    });
  });

  it('may name no export, which selects the default one', async () => {
    expect(await answerOf('unnamed')).toBe('by default');
  });

  it('is set up the same way when the api queries its graphs', async () => {
    const client = gantry.client();
    const [assistant] = await client.assistants.search({ graphId: 'esm' });
    const { nodes } = await client.assistants.getGraph(assistant.assistant_id);
    expect(nodes.map(({ id }) => id)).toContain('say');
  });
});

describe('a project without a tsconfig beside its langgraph.json', () => {
  it('uses the tsconfig nearest to its graph', async () => {
    const project = layOutProject({
      'langgraph.json': { graphs: { agent: './apps/agent/src/graph.ts:graph' } },
      'apps/agent/tsconfig.json': { compilerOptions: { paths: { '@/*': ['./src/*'] } } },
      'apps/agent/src/lib/word.ts': "export const word: string = 'found';\n",
      'apps/agent/src/graph.ts': answeringGraph("import { word } from '@/lib/word';", 'word'),
    });
    const gantry = await startGantry({ graphProcesses: 1, graphs: project.path('langgraph.json') });
    try {
      expect(await gantry.client().runs.wait(null, 'agent', { input: {} })).toEqual({ answer: 'found' });
    } finally {
      await gantry.stop();
      project.remove();
    }
  });
});

describe.each<WorkspaceManager>(['pnpm', 'yarn'])('a workspace that %s installed', (manager) => {
  it('runs with its own packages, whose entry points are TypeScript, and their libraries', async () => {
    const gantry = await startGantry({
      graphProcesses: 1,
      graphs: join(await installWorkspace(manager), 'apps', 'agent', 'langgraph.json'),
    });
    try {
      const client = gantry.client();
      expect(await client.runs.wait(null, 'agent', { input: { messages: [] } })).toMatchObject({
        messages: [{ type: 'ai', content: 'HELLO!' }],
      });
      // Task and marked messages come from this project's copy of the library, to which pnpm links.
      const { thread_id } = await client.threads.create();
      const command = { goto: { node: 'say', input: { text: 'bye' } } };
      await client.runs.wait(thread_id, 'agent', { input: { messages: [] } });
      const sent = (await client.runs.wait(thread_id, 'agent', { command })) as { messages: { content: string }[] };
      expect(sent.messages.map(({ content }) => content)).toContain('BYE!');
      const { input_schema } = await client.assistants.getSchemas('agent');
      expect(input_schema).toMatchObject({ properties: { messages: { langgraph_type: 'messages' } } });
    } finally {
      await gantry.stop();
    }
  }, 300_000);
});
