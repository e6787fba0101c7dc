import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { Pool } from 'pg';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import { CheckpointSaver } from '../../src/graphs/host/checkpoint-saver';
import { createTestDatabase, type TestDatabase } from '../support/database';

/** The tenant whose threads are stored under the ids that the library itself would use. */
const TENANT = '00000000-0000-0000-0000-000000000000';
const THREAD = 'long';
const STEPS = 60;
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
      .compile({ checkpointer: new CheckpointSaver(pool, TENANT) });
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
    }) as Pool;
    return new CheckpointSaver(connections, TENANT);
  }

  async function list(saver: PostgresSaver): Promise<CheckpointTuple[]> {
    const tuples: CheckpointTuple[] = [];
    for await (const tuple of saver.list(CONFIG)) tuples.push(tuple);
    return tuples;
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
    expect(valuesRead(await explained(sent[1]))).toBe(versions);
  });
});
