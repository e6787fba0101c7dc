import { Client as LangSmithClient } from 'langsmith';
import { EXAMPLE_GRAPHS, type Gantry, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';

const API_KEY = `gtry_${'k'.repeat(43)}`;
const TENANT_ID = '00000000-0000-0000-0000-000000000000';

describe("traces of the server's own runs, with auth on", () => {
  let gantry: Gantry;
  let langsmith: LangSmithClient;

  beforeAll(async () => {
    gantry = await startGantry({
      graphs: EXAMPLE_GRAPHS,
      env: {
        GANTRY_TRACING: 'on',
        GANTRY_AUTH: 'on',
        GANTRY_API_KEY: API_KEY,
        GANTRY_INTERNAL_KEY: `gtry_${'i'.repeat(43)}`,
      },
    });
    langsmith = new LangSmithClient({ apiUrl: `${gantry.url}/api/v1`, apiKey: API_KEY, workspaceId: TENANT_ID });
  });

  afterAll(() => gantry?.stop());

  it('come in the project of the graph, as a tree with inputs and outputs', async () => {
    const client = gantry.client({ apiKey: API_KEY });
    const question = { messages: [{ role: 'user', content: 'What is 2 + 3?' }] };
    await client.runs.wait(null, 'agent', { input: question });

    const project = await waitFor('the project of the graph', async () => {
      const response = await fetch(`${gantry.url}/api/v1/sessions?name=agent`, {
        headers: { 'x-api-key': API_KEY, 'x-tenant-id': TENANT_ID },
      });
      const projects = (await response.json()) as { id: string; name: string; tenant_id: string }[];
      return projects.find(({ name }) => name === 'agent');
    });
    expect(project.tenant_id).toBe(TENANT_ID);

    const runs = await waitFor('the whole trace', async () => {
      const found = [];
      for await (const run of langsmith.listRuns({ projectId: project.id })) found.push(run);
      const isWhole = found.some(({ parent_run_id: parent, end_time: end }) => !parent && end);
      return isWhole ? found : undefined;
    });
    const root = runs.find(({ parent_run_id: parent }) => !parent)!;
    expect(JSON.stringify(root.inputs)).toContain('What is 2 + 3?');
    expect(JSON.stringify(root.outputs)).toContain('2 + 3 = 5');
    expect(runs.every(({ trace_id: trace }) => trace === root.id)).toBe(true);
    expect(runs.map(({ run_type: type }) => type)).toEqual(expect.arrayContaining(['chain', 'llm', 'tool']));
  });
});
