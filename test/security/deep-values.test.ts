import { Pool } from 'pg';
import { type ApiProcess, startApiProcess } from '../support/api-process';
import { TEST_GRAPHS } from '../support/gantry';

/** Depth that Postgres accepts: runs of earlier versions, and graphs themselves, may have stored that. */
const DEPTH = 6_000;
const deep = '{"a":'.repeat(DEPTH) + '1' + '}'.repeat(DEPTH);

/** Depth of JSON, without recursion. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if (character === '{' || character === '[') depth += 1;
    if (character === '}' || character === ']') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

describe('stored values of any depth, from before the limit', () => {
  let api: ApiProcess;
  let sql: Pool;
  let threadId: string;

  beforeAll(async () => {
    api = await startApiProcess({ GANTRY_CONFIG: TEST_GRAPHS });
    sql = new Pool({ connectionString: api.database.url, max: 1 });
    const { body } = await ask('/threads', {});
    threadId = (body as { thread_id: string }).thread_id;
    await sql.query(
      `UPDATE threads SET values = $2, interrupts = $2, metadata = metadata || jsonb_build_object('deep', $2::jsonb)
       WHERE thread_id = $1`,
      [threadId, deep],
    );
  });

  afterAll(async () => {
    await sql?.end();
    await api?.close();
  });

  async function ask(path: string, body?: object): Promise<{ status: number; text: string; body: unknown }> {
    const response = await fetch(api.url + path, {
      method: body ? 'POST' : 'GET',
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    return { status: response.status, text, body: JSON.parse(text) as unknown };
  }

  it.each([
    ['/threads/search', {}],
    ['/threads/search', { select: ['thread_id', 'values'] }],
    ['/threads/search', { extract: { found: 'values.a' } }],
  ])('are returned by %s with %j', async (path, body) => {
    const { status, text, body: threads } = await ask(path, body);
    expect(status).toBe(200);
    expect((threads as { thread_id: string }[]).map(({ thread_id }) => thread_id)).toContain(threadId);
    expect(depthOf(text)).toBeGreaterThan(DEPTH);
  });

  it('are returned with their thread', async () => {
    const { status, text } = await ask(`/threads/${threadId}`);
    expect(status).toBe(200);
    expect(depthOf(text)).toBeGreaterThan(DEPTH);
  });

  it('can be counted and searched', async () => {
    expect(await ask('/threads/count', { metadata: {} })).toMatchObject({ status: 200, body: 1 });
  });
});
