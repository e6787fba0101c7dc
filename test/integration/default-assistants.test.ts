import { readFileSync, writeFileSync } from 'node:fs';
import { startTestApi, type TestApi } from '../support/api';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { temporaryConfig, type TemporaryConfig } from '../support/langgraph-json';

interface Assistant {
  assistant_id: string;
  name: string;
  description: string | null;
  config: object;
  context: object;
  version: number;
}

const GRAPH = 'ten';

describe('the default assistant of a graph', () => {
  let database: TestDatabase;
  let config: TemporaryConfig;
  let api: TestApi | undefined;

  beforeEach(async () => {
    database = await createTestDatabase();
    config = temporaryConfig({});
  });

  afterEach(async () => {
    await api?.close();
    api = undefined;
    config.remove();
    await database.drop();
  });

  /** A start of the deployment with what langgraph.json says of the graph and LANGGRAPH_CONFIG of all of them. */
  async function start(description: string | undefined, defaults: object = {}): Promise<void> {
    await api?.close();
    const file = JSON.parse(readFileSync(config.path, 'utf8')) as { graphs: Record<string, unknown> };
    const entry = file.graphs[GRAPH] as string | { path: string };
    file.graphs[GRAPH] = { path: typeof entry === 'string' ? entry : entry.path, description };
    writeFileSync(config.path, JSON.stringify(file));
    api = await startTestApi({ GANTRY_CONFIG: config.path, LANGGRAPH_CONFIG: JSON.stringify(defaults) }, database);
  }

  /** A start of the deployment without the graph. */
  async function startWithoutGraph(): Promise<void> {
    await api?.close();
    const file = JSON.parse(readFileSync(config.path, 'utf8')) as { graphs: Record<string, unknown> };
    delete file.graphs[GRAPH];
    writeFileSync(config.path, JSON.stringify(file));
    api = await startTestApi({ GANTRY_CONFIG: config.path }, database);
  }

  const send = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${api!.url}/assistants${path && `/${path}`}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });

  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await send(method, path, body);
    expect(response.status).toBe(200);
    return (await response.json()) as T;
  }

  const current = (): Promise<Assistant> => call('GET', GRAPH);

  it('has the description of langgraph.json: a new text is a new version, no text leaves it unchanged', async () => {
    await start('counts');
    expect(await current()).toMatchObject({ name: GRAPH, description: 'counts', version: 1 });
    const changed = await call<Assistant>('PATCH', GRAPH, { name: 'Counter', config: { recursion_limit: 7 } });
    expect(changed).toMatchObject({ description: 'counts', version: 2 });

    await start('counts to ten');
    const kept = { name: 'Counter', config: { recursion_limit: 7 }, description: 'counts to ten', version: 3 };
    expect(await current()).toMatchObject(kept);
    await start('counts to ten');
    expect(await current()).toMatchObject(kept);
    await start(undefined);
    expect(await current()).toMatchObject(kept);
    const versions = await call<Assistant[]>('POST', `${GRAPH}/versions`, {});
    expect(versions.map(({ version, description }) => [version, description])).toEqual([
      [3, 'counts to ten'],
      [2, 'counts'],
      [1, 'counts'],
    ]);
  });

  it('starts with what LANGGRAPH_CONFIG has for it, and keeps later changes', async () => {
    await start(undefined, { [GRAPH]: { recursion_limit: 9, configurable: {}, context: { model: 'small' } } });
    expect(await current()).toMatchObject({ config: { recursion_limit: 9 }, context: { model: 'small' }, version: 1 });
    await call('PATCH', GRAPH, { config: { recursion_limit: 3 } });
    await start(undefined, { [GRAPH]: { recursion_limit: 11 } });
    expect(await current()).toMatchObject({ config: { recursion_limit: 3 }, context: { model: 'small' }, version: 2 });
  });

  it('can be deleted once its graph is no longer served, and not before, whichever graph it runs', async () => {
    await start(undefined);
    const { assistant_id } = await call<Assistant>('PATCH', GRAPH, { graph_id: 'three' });
    const refused = await send('DELETE', assistant_id);
    expect([refused.status, await refused.json()]).toMatchObject([409, { code: 'system_assistant' }]);
    expect(await current()).toMatchObject({ assistant_id, graph_id: 'three' });

    await startWithoutGraph();
    expect((await send('DELETE', assistant_id)).status).toBe(204);
    expect((await send('GET', assistant_id)).status).toBe(404);
  });

  it('can be deleted when its graph, which it still names, is no longer served', async () => {
    await start(undefined);
    const { assistant_id } = await current();
    await startWithoutGraph();
    expect((await send('DELETE', assistant_id)).status).toBe(204);
    expect((await send('PATCH', assistant_id, {})).status).toBe(404);
  });

  it('is hidden with the other assistants of its graph while that is not served, and none of them is lost', async () => {
    await start(undefined);
    const own = await call<Assistant>('POST', '', { graph_id: GRAPH, name: 'mine' });
    const ids = [(await current()).assistant_id, own.assistant_id];
    const search = { limit: 1000 };
    const count = await call<number>('POST', 'count', {});
    const listed = async (): Promise<string[]> =>
      (await call<Assistant[]>('POST', 'search', search)).map(({ assistant_id }) => assistant_id);
    expect(await listed()).toEqual(expect.arrayContaining(ids));

    const served = readFileSync(config.path);
    await startWithoutGraph();
    expect((await listed()).filter((id) => ids.includes(id))).toEqual([]);
    expect(await call('POST', 'count', {})).toBe(count - 2);
    expect((await send('GET', own.assistant_id)).status).toBe(404);
    expect((await send('GET', `${own.assistant_id}/schemas`)).status).toBe(404);
    expect(await call('POST', `${own.assistant_id}/versions`, {})).toHaveLength(1);
    // It is found again once it has a graph that is served.
    expect(await call('PATCH', own.assistant_id, { graph_id: 'three' })).toMatchObject({ graph_id: 'three' });
    expect(await call('GET', own.assistant_id)).toMatchObject({ name: 'mine' });

    writeFileSync(config.path, served);
    await start(undefined);
    expect(await listed()).toEqual(expect.arrayContaining(ids));
  });
});
