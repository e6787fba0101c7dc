import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGantry, type Gantry } from '../support/gantry';
import { answeringGraph, layOutProject, type Project } from '../support/project';
import { waitFor } from '../support/wait-for';

/** Types are read by compiling the graph's file, which takes long on a busy machine. */
const SCHEMAS_MS = 150_000;

describe('graphs that cannot be loaded, beside one that can', () => {
  let project: Project;
  let gantry: Gantry;
  let cache: string;

  beforeAll(async () => {
    project = layOutProject({
      'langgraph.json': {
        graphs: {
          good: './good.ts:graph',
          package_missing: './package-missing.ts:graph',
          nothing_exported: './nothing-exported.ts:graph',
          variable_missing: './variable-missing.ts:graph',
          promise_rejected: './promise-rejected.ts:graph',
          waits_at_load: './waits-at-load.ts:graph',
          plug_and_play: './yarn/graph.ts:graph',
          library_too_old: './old/graph.ts:graph',
        },
      },
      'good.ts': answeringGraph('', "'good'"),
      'package-missing.ts': answeringGraph("import { nothing } from '@acme/not-installed';", 'nothing'),
      'nothing-exported.ts': 'export {};\n',
      'variable-missing.ts': answeringGraph(
        "if (!process.env.ACME_KEY) throw new Error('ACME_KEY is not set: put it into .env');",
        '1',
      ),
      'promise-rejected.ts': "export const graph = Promise.reject(new Error('The tool server is away'));\n",
      'waits-at-load.ts': answeringGraph('const word = await Promise.resolve(1);', 'word'),
      'yarn/.pnp.cjs': '',
      'yarn/graph.ts': answeringGraph("import { nothing } from '@acme/in-an-archive';", 'nothing'),
      'old/graph.ts': answeringGraph('', '1'),
      'old/node_modules/@langchain/langgraph/package.json': { name: '@langchain/langgraph', version: '0.1.9' },
    });
    cache = project.path('.cache');
    const env = { GANTRY_PREPARE_SCHEMAS: 'on', GANTRY_CACHE_FOLDER: cache };
    gantry = await startGantry({ graphProcesses: 1, graphs: project.path('langgraph.json'), env });
  });

  afterAll(async () => {
    await gantry?.stop();
    project?.remove();
  });

  it.each([
    ['package_missing', /package-missing\.ts failed to load: Cannot find (package|module) '@acme\/not-installed'/],
    ['nothing_exported', /nothing-exported\.ts has no export \\*"graph/],
    ['variable_missing', /variable-missing\.ts failed to load: ACME_KEY is not set: put it into \.env/],
    ['promise_rejected', /promise-rejected\.ts failed to load: The tool server is away/],
    ['waits_at_load', /Top-level await .*\. Set \W+type\W+: \W+module\W+ in the package\.json/],
    [
      'plug_and_play',
      /in-an-archive'[^]*\. \S+\/yarn was installed with yarn's Plug'n'Play, .*set \W+nodeLinker: node-modules/,
    ],
    [
      'library_too_old',
      /graph\.ts: its project has @langchain\/langgraph 0\.1\.9, and Gantry supports >=0\.2\.74 <2\.0\.0/,
    ],
  ])('%s: the start and each run report the reason', async (graph, reason) => {
    const line = gantry.worker.lines.find((each) => each.includes(`graphs.${graph}: `));
    expect((JSON.parse(line!) as { msg: string }).msg).toMatch(reason);
    for (let run = 0; run < 2; run += 1) {
      await expect(gantry.client().runs.wait(null, graph, { input: {} })).rejects.toThrow(reason);
    }
  });

  it('do not affect the other graphs', async () => {
    expect(await gantry.client().runs.wait(null, 'good', { input: {} })).toEqual({ answer: 'good' });
  });

  it(
    'do not prevent the schemas of the others from being read in advance and cached',
    async () => {
      const kept = await waitFor(
        'the schemas',
        () => existsSync(cache) && readdirSync(join(cache, 'graph-types')).find((name) => name.endsWith('.json')),
        SCHEMAS_MS,
      );
      const { schemas, files } = JSON.parse(readFileSync(join(cache, 'graph-types', kept), 'utf8')) as {
        schemas: string;
        files: Record<string, string>;
      };
      expect(Object.keys(files)).toContain(project.path('good.ts'));
      const [{ state }] = Object.values(JSON.parse(schemas) as Record<string, { state: object }>);
      expect(state).toMatchObject({ properties: { answer: {} } });
      expect((await gantry.client().assistants.getSchemas('good')).state_schema).toEqual(state);
    },
    SCHEMAS_MS + 20_000,
  );
});
