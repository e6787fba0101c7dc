import { join } from 'node:path';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { Client } from '@modelcontextprotocol/client';
import type { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import type { TenantId } from '../../src/auth/tenant';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { connectMcp, ERAS, postMcp } from '../support/mcp';

const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'mcp.langgraph.json');
const KEYS = { a: 'key-of-tenant-a-0123456789', b: 'key-of-tenant-b-0123456789' };
type Name = keyof typeof KEYS;
/** More than a page. */
const ITEMS = 120;

describe.each(ERAS)('prompts and resources, in MCP %s', (era) => {
  let api: TestApi;
  let client: Client;
  let stranger: Client;
  const threads: string[] = [];
  let other: string;

  const connect = (name: Name): Promise<Client> => connectMcp(api.url, { era, headers: { 'x-api-key': KEYS[name] } });

  async function send(name: Name, method: string, path: string, body: object): Promise<Response> {
    const answer = await fetch(api.url + path, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': KEYS[name] },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBeLessThan(300);
    return answer;
  }

  const newThread = async (graphId: string): Promise<string> =>
    ((await (await send('a', 'POST', '/threads', { metadata: { graph_id: graphId } })).json()) as { thread_id: string })
      .thread_id;

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_AUTH: 'on', GANTRY_API_KEY: 'dev-key-0123456789', GANTRY_CONFIG: GRAPHS });
    const database = api.app.get<DataSource>(getDataSourceToken());
    for (const name of ['a', 'b'] as const) {
      const tenantId = uuidv7() as TenantId;
      await database.query('INSERT INTO tenants (tenant_id, name) VALUES ($1, $2)', [tenantId, name]);
      await api.app.get(ApiKeysService, { strict: false }).register(tenantId, name, KEYS[name]);
    }
    for (let index = 0; index < 3; index += 1) threads.unshift(await newThread('greet'));
    other = await newThread('slow_compute');
    const put = (namespace: string[], key: string) =>
      send('a', 'PUT', '/store/items', { namespace, key, value: { text: `about ${key}` } });
    for (let index = 0; index < ITEMS; index += 1) await put(['notes', 'nested'], `note ${index}`);
    await put(['notes', 'a/b'], 'x/y?');
    await put(['secrets'], 'hidden');
    [client, stranger] = [await connect('a'), await connect('b')];
  });

  afterAll(async () => {
    await client?.close();
    await stranger?.close();
    await api?.close();
  });

  it('lists prompts, and fills in their arguments', async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts).toMatchObject([
      { name: 'test_simple_prompt', title: 'Greeting', description: 'Greets' },
      {
        name: 'test_prompt_with_arguments',
        arguments: [
          { name: 'arg1', required: true },
          { name: 'arg2', required: false },
        ],
      },
    ]);
    const get = (args: Record<string, string>) =>
      client.getPrompt({ name: 'test_prompt_with_arguments', arguments: args });
    expect((await get({ arg1: '{{arg2}}', arg2: '$&' })).messages).toEqual([
      { role: 'user', content: { type: 'text', text: "Prompt with arguments: arg1='{{arg2}}', arg2='$&'" } },
      { role: 'assistant', content: { type: 'text', text: 'Noted' } },
    ]);
    expect(JSON.stringify(await get({ arg1: 'one' }))).toContain("arg2=''");
    await expect(get({ arg2: 'two' })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('arguments.arg1') as string,
    });
    await expect(client.getPrompt({ name: 'toString' })).rejects.toMatchObject({ code: -32_602 });
  });

  it('lists the threads of declaring graphs and the items of declared namespaces, each once, in pages', async () => {
    // The client follows the pages by itself.
    const listed = (await client.listResources()).resources.map(({ uri }) => uri);
    const page = async (cursor?: string) => {
      const request = { jsonrpc: '2.0', id: 1, method: 'resources/list', params: { ...(cursor && { cursor }) } };
      const { messages } = await postMcp(api.url, request, { 'x-api-key': KEYS.a });
      return (messages[0] as { result: { resources: { uri: string }[]; nextCursor?: string } }).result;
    };
    const [first, second] = [await page(), await page((await page()).nextCursor)];
    expect([first.resources.length, second.resources.length, second.nextCursor]).toEqual([100, 24, undefined]);
    expect([...first.resources, ...second.resources].map(({ uri }) => uri)).toEqual(listed);
    expect(listed.slice(0, 3)).toEqual(threads.map((id) => `gantry://threads/${id}`));
    const items = listed.slice(3);
    expect(new Set(items).size).toBe(ITEMS + 1);
    expect(items).toHaveLength(ITEMS + 1);
    expect(items).toContain('gantry://store/notes/a%2Fb/x%2Fy%3F');
    expect((await stranger.listResources()).resources).toEqual([]);
    await expect(client.listResources({ cursor: 'none of ours' })).rejects.toMatchObject({ code: -32_602 });
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'gantry://threads/{thread_id}',
      'gantry://store/notes/{key}',
    ]);
  });

  it('reads a thread and an item as JSON', async () => {
    const read = async (uri: string): Promise<unknown> => {
      const { contents } = await client.readResource({ uri });
      expect(contents).toMatchObject([{ uri, mimeType: 'application/json' }]);
      return JSON.parse((contents[0] as { text: string }).text);
    };
    for (const id of [threads[0], threads[0].toUpperCase()])
      expect(await read(`gantry://threads/${id}`)).toMatchObject({ thread_id: threads[0], status: 'idle' });
    expect(await read('gantry://store/notes/a%2Fb/x%2Fy%3F')).toMatchObject({
      namespace: ['notes', 'a/b'],
      key: 'x/y?',
      value: { text: 'about x/y?' },
    });
  });

  it('does not find what is not declared, not there, or another tenant’s', async () => {
    const missing = (of: Client, uri: string) =>
      expect(of.readResource({ uri })).rejects.toMatchObject({
        message: expect.stringMatching(/not found/i) as string,
      });
    for (const uri of [
      `gantry://threads/${other}`,
      `gantry://threads/${uuidv7()}`,
      'gantry://threads/none',
      'gantry://store/secrets/hidden',
      'gantry://store/notes/none',
      'file:///etc/passwd',
    ]) {
      await missing(client, uri);
    }
    await missing(stranger, `gantry://threads/${threads[0]}`);
    await missing(stranger, 'gantry://store/notes/a%2Fb/x%2Fy%3F');
  });
});

it('declares neither prompts nor resources where no graph does', async () => {
  const api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS });
  const client = await connectMcp(api.url, { era: '2025-11-25' });
  try {
    expect(client.getServerCapabilities()).not.toHaveProperty('prompts');
    expect(client.getServerCapabilities()).not.toHaveProperty('resources');
  } finally {
    await client.close();
    await api.close();
  }
});
