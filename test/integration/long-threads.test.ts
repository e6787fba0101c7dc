import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { CheckpointListOptions, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { Pool } from 'pg';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import { CheckpointSaver } from '../../src/graphs/host/checkpoint-saver';
import { type Connections, TenantConnections } from '../../src/graphs/host/tenant-connections';
import { createTestDatabase, type TestDatabase } from '../support/database';

/** The tenant whose threads are stored under the ids that the library itself would use. */
const TENANT = '00000000-0000-0000-0000-000000000000';
const THREAD = 'long';
/** Their checkpoints are read in three pages. */
const STEPS = 230;
const PAGE = 100;
const CONFIG = { configurable: { thread_id: THREAD, checkpoint_ns: '' } };

const State = Annotation.Root({
  count: Annotation<number>,
  said: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
});

interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  Plans?: Plan[];
}

/** Number of stored values of channels that a plan has read. */
function valuesRead(plan: Plan): number {
  const own = plan['Relation Name'] === 'checkpoint_blobs' ? plan['Actual Rows'] * plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, child) => sum + valuesRead(child), own);
}

/** Reading a state costs as much as the state holds, however long its thread is. */
describe('reading a long thread', () => {
  let database: TestDatabase;
  let pool: Pool;
  const sent: [text: string, values: unknown[]][] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = new Pool({ connectionString: database.url, max: 2 });
    const graph = new StateGraph(State)
      .addNode('step', ({ count }) => ({ count: count + 1, said: [`step ${count}`] }))
      .addEdge(START, 'step')
      .addConditionalEdges('step', ({ count }) => (count < STEPS ? 'step' : END))
      .compile({ checkpointer: new CheckpointSaver(new TenantConnections(pool, { tenantId: TENANT }), TENANT) });
    await graph.invoke({ count: 0 }, { ...CONFIG, recursionLimit: STEPS + 1 });
    await graph.updateState(CONFIG, { said: ['by hand'] });
  });

  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  /** A saver whose statements are recorded. */
  function noting(): CheckpointSaver {
    const connections = Object.create(pool, {
      query: {
        value: (text: string, values: unknown[]) => {
          sent.push([text, values]);
          return pool.query(text, values);
        },
      },
    }) as Connections;
    return new CheckpointSaver(connections, TENANT);
  }

  function list(saver: PostgresSaver, options?: CheckpointListOptions): Promise<CheckpointTuple[]> {
    return Array.fromAsync(saver.list(CONFIG, options));
  }

  async function explained([text, values]: [string, unknown[]]): Promise<Plan> {
    const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      values,
    );
    return rows[0]['QUERY PLAN'][0].Plan;
  }

  it("gives the same results as the library's own reads", async () => {
    const theirs = new PostgresSaver(pool, undefined, { schema: CHECKPOINT_SCHEMA });
    const ours = noting();
    expect(await list(ours)).toEqual(await list(theirs));
    const newest = await ours.getTuple(CONFIG);
    expect(newest).toEqual(await theirs.getTuple(CONFIG));
    expect(newest!.checkpoint.channel_values).toMatchObject({ count: STEPS });
    expect(newest!.checkpoint.channel_values.said).toHaveLength(STEPS + 1);
  });

  it('reads the values of the requested checkpoints, and of no others', async () => {
    sent.length = 0;
    const newest = await noting().getTuple(CONFIG);
    const [{ checkpoints, versions }] = (
      await pool.query<{ checkpoints: number; versions: number }>(
        `SELECT count(*)::int AS checkpoints, sum((SELECT count(*) FROM jsonb_object_keys(checkpoint->'channel_versions')))::int AS versions
         FROM ${CHECKPOINT_SCHEMA}.checkpoints WHERE thread_id = $1`,
        [THREAD],
      )
    ).rows;
    expect(checkpoints).toBeGreaterThan(STEPS);
    expect(valuesRead(await explained(sent[0]))).toBe(Object.keys(newest!.checkpoint.channel_versions).length);
    await list(noting());
    const pages = await Promise.all(sent.slice(1).map(explained));
    expect(pages).toHaveLength(Math.ceil(checkpoints / PAGE));
    expect(pages.reduce((sum, plan) => sum + valuesRead(plan), 0)).toBe(versions);
  });

  it.each([1, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE, STEPS + PAGE])('ends at a limit of %d', async (limit) => {
    const all = await list(noting());
    sent.length = 0;
    expect(await list(noting(), { limit })).toEqual(all.slice(0, limit));
    expect(sent).toHaveLength(Math.ceil(Math.min(limit, all.length) / PAGE));
    const [{ config: before }] = all;
    expect(await list(noting(), { limit, before })).toEqual(all.slice(1, limit + 1));
    expect(await list(noting(), { limit, filter: { source: 'input' } })).toEqual(all.slice(-1));
  });

  it('leaves a page alone that fails after its caller has stopped', async () => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    let pages = 0;
    const failing = Object.create(pool, {
      query: {
        value: (text: string, values: unknown[]) => {
          pages += 1;
          return pages === 1 ? pool.query(text, values) : Promise.reject(new Error('no second page'));
        },
      },
    }) as Connections;
    for await (const _ of new CheckpointSaver(failing, TENANT).list(CONFIG)) break;
    await new Promise(setImmediate);
    process.off('unhandledRejection', unhandled);
    expect([pages, unhandled.mock.calls]).toEqual([2, []]);
    pages = 0;
    await expect(list(new CheckpointSaver(failing, TENANT))).rejects.toThrow('no second page');
  });
});
