import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installApp } from '../support/app';
import { Gantry, startGantry } from '../support/gantry';
import { olderPython, runPython } from '../support/python';
import { waitFor } from '../support/wait-for';

const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'clients.json');
const SCRIPTS = join(__dirname, '..', 'python');
const COUNTED = 'one two three four five six seven eight nine ten';
const NODES = ['node_1', 'node_2', 'node_3'];
const TOOLS = ['ask', 'desk', 'fail', 'prose', 'sleep', 'talk', 'three'];

const run = promisify(execFile);

/**
 * Clients of the generations and packages that the other tests don't use: those of A2A 0.3 and MCP 1.x in both languages,
 * LangChain's adapters, the inspector. One script for each makes the calls; the tests check what it got.
 */
describe('clients of A2A and MCP of other generations', () => {
  let gantry: Gantry;
  let folder: string;

  beforeAll(async () => {
    gantry = await startGantry({ graphs: GRAPHS, graphProcesses: 1 });
    folder = join(await installApp('protocol-clients'), '..');
    await gantry.client().store.putItem(['notes'], 'first', { text: 'kept' });
  }, 600_000);

  afterAll(() => gantry?.stop());

  const node = async (...args: string[]): Promise<unknown> => {
    const env = { PATH: process.env.PATH, HOME: folder };
    const { stdout } = await run(process.execPath, args, { cwd: folder, env, timeout: 120_000 });
    return JSON.parse(stdout);
  };
  const inPython = async (script: string, ...args: string[]): Promise<unknown> =>
    JSON.parse(await runPython([join(SCRIPTS, script), gantry.url, ...args], {}, olderPython()));

  it.each([
    ['@a2a-js/sdk 0.3', () => node('a2a.mjs', gantry.url)],
    ['a2a-sdk 0.3', () => inPython('a2a_0_3_client.py')],
  ])(
    'A2A: %s sends, streams, answers, rejoins and cancels, and recognizes errors',
    async (_client, use) => {
      expect(await use()).toEqual({
        name: 'talk',
        sent: COUNTED,
        read: COUNTED,
        streamed: COUNTED,
        last: 'completed',
        asked: 'input-required',
        answered: 'Your refund is on its way.',
        rejoined: 'completed',
        canceled: 'canceled',
        end: 'canceled',
        unknown: expect.stringContaining('not found') as string,
        unknownStream: expect.stringContaining('not found') as string,
      });
    },
    180_000,
  );

  it.each([
    ['@modelcontextprotocol/sdk 1.x and @langchain/mcp-adapters', () => node('mcp.mjs', gantry.url)],
    ['mcp 1.x and langchain-mcp-adapters', () => inPython('mcp_1_client.py')],
  ])(
    'MCP: %s call tools, answer, read prompts and resources, and recognize errors',
    async (_client, use) => {
      const { tools, adapted, ...rest } = (await use()) as {
        tools: string[];
        adapted: { tools: number; result: unknown };
      };
      expect([...tools].sort()).toEqual(TOOLS);
      expect(adapted.tools).toBe(TOOLS.length);
      expect(JSON.stringify(adapted.result)).toContain('node_3');
      expect(rest).toMatchObject({
        called: { done: NODES },
        progress: NODES,
        answered: { question: 'Shall I?', answer: 'by all means' },
        questions: ['Shall I?'],
        failed: { isError: true, content: [{ text: 'TypeError: On fire' }] },
        unknown: -32_602,
        prompts: ['test_prompt_with_arguments'],
        prompt: 'Prompt with arguments: a, b',
        resource: { text: 'kept' },
      });
    },
    180_000,
  );

  it('MCP: @modelcontextprotocol/sdk 1.x cancels a call', async () => {
    await waitFor('the end of the run', async () => {
      const { rows } = await gantry.sql.query<{ status: string }>(
        `SELECT status FROM runs WHERE kwargs->'input'->>'note' = 'cancelled by 1.x'`,
      );
      return rows[0]?.status === 'interrupted';
    });
  });

  it.each(['legacy', '2026-07-28'])('MCP: mcp 2.x reads prompts and resources, %s', async (mode) => {
    expect(JSON.parse(await runPython([join(SCRIPTS, 'mcp_prompts.py'), gantry.url, mode]))).toEqual({
      prompts: ['test_prompt_with_arguments'],
      prompt: 'Prompt with arguments: a, b',
      resource: { text: 'kept' },
    });
  });

  it('MCP: the inspector lists tools and calls one', async () => {
    const program = join(
      'node_modules',
      '@modelcontextprotocol',
      'inspector',
      'clients',
      'launcher',
      'build',
      'index.js',
    );
    const inspect = (...args: string[]): Promise<unknown> =>
      node(program, '--cli', `${gantry.url}/mcp`, '--transport', 'http', ...args);
    expect(await inspect('--method', 'tools/list')).toMatchObject({ tools: expect.any(Array) as unknown[] });
    const call = ['--method', 'tools/call', '--tool-name', 'three', '--tool-arg', 'step_ms=1'];
    expect(await inspect(...call)).toMatchObject({ structuredContent: { done: NODES } });
  });
});
