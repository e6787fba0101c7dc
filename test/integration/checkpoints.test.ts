import type { RunnableConfig } from '@langchain/core/runnables';
import { Annotation, END, interrupt, Send, START, StateGraph } from '@langchain/langgraph';
import { Pool } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { checkpointKey } from '../../src/database/checkpoint-key';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import type { GraphOutcome, RunEventMessage, StreamMode } from '../../src/graphs/host/protocol';
import { TenantConnections } from '../../src/graphs/host/tenant-connections';
import { CheckpointSaver } from '../../src/graphs/host/checkpoint-saver';
import { runGraph } from '../../src/graphs/host/run-graph';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { waitFor } from '../support/wait-for';

const TENANT = '00000000-0000-4000-8000-000000000001';

const State = Annotation.Root({
  done: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
});

interface Written {
  source: string;
  step: number;
  has_parent: boolean;
  writes: number;
}

/** Order of a run's writes: a node must never run before its checkpoint is stored. */
describe('the checkpoints of a run', () => {
  let database: TestDatabase;
  let pool: Pool;

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = new Pool({ connectionString: database.url, max: 4 });
    await pool.query(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'checkpoints')`, [TENANT]);
  });

  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  async function written(threadId: string): Promise<Written[]> {
    const { rows } = await pool.query<Written>(
      `SELECT metadata->>'source' AS source, (metadata->>'step')::int AS step,
         parent_checkpoint_id IS NOT NULL AS has_parent,
         (SELECT count(*)::int FROM ${CHECKPOINT_SCHEMA}.checkpoint_writes w
          WHERE w.thread_id = c.thread_id AND w.checkpoint_id = c.checkpoint_id) AS writes
       FROM ${CHECKPOINT_SCHEMA}.checkpoints c WHERE thread_id = $1 ORDER BY checkpoint_id`,
      [checkpointKey(TENANT, threadId)],
    );
    return rows;
  }

  async function insertRun(threadId: string, runId: string): Promise<void> {
    await pool.query(`INSERT INTO threads (thread_id, tenant_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [
      threadId,
      TENANT,
    ]);
    // The run before it on the thread has ended.
    await pool.query(`UPDATE runs SET status = 'success' WHERE thread_id = $1`, [threadId]);
    await pool.query(
      `INSERT INTO runs (run_id, tenant_id, thread_id, assistant_id, graph_id, status, attempt, kwargs, multitask_strategy)
       VALUES ($1, $2, $3, $1, 'graph', 'running', 1, '{}', 'enqueue')`,
      [runId, TENANT, threadId],
    );
  }

  /** Runs a graph that is made for its thread, and resolves to what it emitted and how it ended. */
  async function run(
    threadId: string,
    graph: unknown,
    input: unknown = {},
    streamMode: StreamMode = 'values',
    threadIsNew = false,
  ) {
    const runId = uuidv7();
    await insertRun(threadId, runId);
    const events: RunEventMessage[] = [];
    const running = runGraph(
      {
        ...{ graphs: { get: async () => graph, source: () => ({ file: __filename }) } as never, recursionLimit: 25 },
        ...{ connectionsOf: (access) => new TenantConnections(pool, access), storeOf: () => ({}) as never },
      },
      {
        ...{ runId, threadId, tenantId: TENANT, assistantId: runId, graphId: 'graph', attempt: 1, metadata: {} },
        ...{
          headers: {},
          threadIsNew,
          handedBack: false,
          emitted: { updates: {}, facts: [] },
          onUnknown: 'retry' as never,
        },
        kwargs: {
          ...{ input, stream_mode: [streamMode], stream_subgraphs: false, stream_resumable: false },
          ...{ durability: 'async', temporary: threadIsNew },
        },
      },
      { signal: new AbortController().signal, isHandingBack: () => false, onNode: () => undefined },
    );
    for (;;) {
      const next = await running.next();
      if (next.done) return { events, outcome: next.value as GraphOutcome };
      events.push(next.value);
    }
  }

  const plain = (node: () => Promise<unknown>) =>
    new StateGraph(State)
      .addNode('work', async () => {
        await node();
        return { done: ['work'] };
      })
      .addEdge(START, 'work')
      .addEdge('work', END)
      .compile();

  const BEFORE_WORK: Written[] = [
    { source: 'input', step: -1, has_parent: false, writes: 2 },
    { source: 'loop', step: 0, has_parent: true, writes: 0 },
  ];

  it('exist before the first node begins, including that of the input', async () => {
    const threadId = uuidv7();
    let before: Written[] = [];
    const { outcome, events } = await run(
      threadId,
      plain(async () => (before = await written(threadId))),
      { done: ['asked'] },
    );
    expect(outcome.status).toBe('success');
    expect(before).toEqual(BEFORE_WORK);
    expect(await written(threadId)).toEqual([
      BEFORE_WORK[0],
      { ...BEFORE_WORK[1], writes: 1 },
      { source: 'loop', step: 1, has_parent: true, writes: 0 },
    ]);
    expect(events.map(({ data }) => JSON.parse(data) as unknown)).toEqual([
      { done: ['asked'] },
      { done: ['asked', 'work'] },
    ]);
  });

  it('include that of the input while the first node is chosen, which is code of the graph', async () => {
    const threadId = uuidv7();
    const graph = new StateGraph(State)
      .addNode('work', () => ({ done: ['work'] }))
      .addConditionalEdges(START, async () => {
        await waitFor('the checkpoint of the input', async () => (await written(threadId)).length > 0);
        return 'work';
      })
      .addEdge('work', END)
      .compile();
    // Nothing is emitted before the node, for which the checkpoint would have to be there.
    const { outcome } = await run(threadId, graph, {}, 'custom');
    expect(outcome.status).toBe('success');
  });

  it('include that of the input when the graph fails right after it', async () => {
    const threadId = uuidv7();
    const Strict = Annotation.Root({
      done: Annotation<string[]>({
        reducer: () => {
          throw new TypeError('Not such an input');
        },
        default: () => [],
      }),
    });
    const graph = new StateGraph(Strict)
      .addNode('work', () => ({}))
      .addEdge(START, 'work')
      .compile();
    const { outcome } = await run(threadId, graph, { done: ['asked'] });
    expect(outcome).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('Not such an input') },
    });
    expect((await written(threadId)).map(({ source }) => source)).toEqual(['input']);
  });

  it('are not written by an attempt that has lost its run', async () => {
    const threadId = uuidv7();
    const graph = plain(async () => {
      await pool.query(`UPDATE runs SET attempt = 2 WHERE thread_id = $1`, [threadId]);
    });
    await expect(run(threadId, graph)).rejects.toThrow('has lost the run');
    expect((await written(threadId)).map(({ source, step }) => [source, step])).toEqual([
      ['input', -1],
      ['loop', 0],
    ]);
  });

  const NESTED = 'in a nested graph that is called without the callbacks of the run';
  it.each(['in the graph itself', NESTED])('hold a node back until they are committed, %s', async (where) => {
    const threadId = uuidv7();
    const begun: string[] = [];
    const other = await pool.connect();
    const steps = new StateGraph(State)
      .addNode('one', async () => {
        // The checkpoint after this node can't be written before the other transaction ends.
        await other.query(`BEGIN; LOCK TABLE ${CHECKPOINT_SCHEMA}.checkpoints IN SHARE MODE`);
        return { done: ['one'] };
      })
      .addNode('two', () => {
        begun.push('two');
        return { done: ['two'] };
      })
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .compile();
    const around = new StateGraph(State)
      .addNode('nested', (_: unknown, { configurable }) => steps.invoke({}, { configurable, callbacks: [] }))
      .addEdge(START, 'nested')
      .compile();
    const running = run(threadId, where === NESTED ? around : steps);
    try {
      await waitFor('the checkpoint to wait for the lock', async () => {
        const { rowCount } = await pool.query(
          `SELECT FROM pg_locks WHERE NOT granted AND relation = '${CHECKPOINT_SCHEMA}.checkpoints'::regclass
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        );
        // A checkpoint of the graph around may wait as well.
        return rowCount === 1 || (where === NESTED && rowCount === 2);
      });
      // Everything that does not wait for the database continues meanwhile.
      for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      expect(begun).toEqual([]);
      await other.query('COMMIT');
    } finally {
      other.release(true);
    }
    const { outcome } = await running;
    expect(outcome).toMatchObject({ status: 'success', state: { values: JSON.stringify({ done: ['one', 'two'] }) } });
    expect(begun).toEqual(['two']);
  });

  it('end the attempt when they could not be written, before the next node begins', async () => {
    const threadId = uuidv7();
    const begun: string[] = [];
    const graph = new StateGraph(State)
      .addNode('one', async () => {
        await pool.query(`UPDATE runs SET attempt = 2 WHERE thread_id = $1`, [threadId]);
        return { done: ['one'] };
      })
      .addNode('two', () => {
        begun.push('two');
        return {};
      })
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .compile();
    // Nothing is emitted between the two nodes.
    await expect(run(threadId, graph, {}, 'custom')).rejects.toThrow('has lost the run');
    expect(begun).toEqual([]);
    expect((await written(threadId)).map(({ step }) => step)).toEqual([-1, 0]);
  });

  it('are written with the results of their steps: a statement for each step', async () => {
    const threadId = uuidv7();
    const statements = jest.spyOn(TenantConnections.prototype, 'querySettingTenant');
    const graph = new StateGraph(State)
      .addNode('one', () => ({ done: ['one'] }))
      .addNode('two', () => ({ done: ['two'] }))
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .addEdge('two', END)
      .compile();
    const { outcome } = await run(threadId, graph);
    const count = statements.mock.calls.filter(([statement]) => statement.includes('store_checkpoints')).length;
    statements.mockRestore();
    expect(outcome.status).toBe('success');
    // One checkpoint for the input and its distribution to the channels.
    expect(count).toBe(3);
    expect((await written(threadId)).map(({ step, writes }) => [step, writes])).toEqual([
      [-1, 1],
      [0, 2],
      [1, 1],
      [2, 0],
    ]);
  });

  describe('are read from the database', () => {
    let reads: jest.SpyInstance;

    beforeEach(() => (reads = jest.spyOn(TenantConnections.prototype, 'query')));
    afterEach(() => reads.mockRestore());

    /** Number of checkpoints that runs have read since the last call. */
    function countReads(): number {
      const statements = reads.mock.calls.map(([statement]) => String(statement));
      reads.mockClear();
      return statements.filter((statement) => statement.includes('pending_writes')).length;
    }

    const KEEPS = Annotation.Root({ ...State.spec, name: Annotation<string>, large: Annotation<string> });
    /** Changes `done` alone, unless the input has more. */
    const changing = new StateGraph(KEEPS)
      .addNode('work', ({ done }) => ({ done: [`${done.length}`] }))
      .addEdge(START, 'work')
      .addEdge('work', END)
      .compile();

    /** The state as the database has it. */
    async function stored(threadId: string): Promise<unknown> {
      const saver = new CheckpointSaver(new TenantConnections(pool, { tenantId: TENANT }), TENANT);
      const tuple = await saver.getTuple({ configurable: { thread_id: threadId } });
      const { done, name, large } = tuple!.checkpoint.channel_values;
      countReads();
      return { done, name, large };
    }

    it('once for a run that writes all of its state, and not at all on a temporary thread', async () => {
      const kept = uuidv7();
      const first = await run(kept, changing, { name: 'one' });
      expect(countReads()).toBe(1);
      expect(first.outcome.state?.values).toBe(JSON.stringify({ done: ['0'], name: 'one' }));
      expect(await stored(kept)).toEqual({ done: ['0'], name: 'one' });

      const temporary = await run(uuidv7(), changing, { name: 'two' }, 'values', true);
      expect(countReads()).toBe(0);
      expect(temporary.outcome.state?.values).toBe(JSON.stringify({ done: ['0'], name: 'two' }));
    });

    it('again at the end of a run that keeps a value of an earlier one, or writes a large one', async () => {
      const threadId = uuidv7();
      await run(threadId, changing, { name: 'one' });
      countReads();
      const second = await run(threadId, changing, {});
      expect(countReads()).toBe(2);
      expect(second.outcome.state?.values).toBe(JSON.stringify({ done: ['0', '1'], name: 'one' }));
      const large = 'l'.repeat(100_000);
      const third = await run(threadId, changing, { name: 'three', large });
      expect(countReads()).toBe(2);
      expect(third.outcome.state?.values).toBe(JSON.stringify({ done: ['0', '1', '2'], name: 'three', large }));
      expect(await stored(threadId)).toEqual({ done: ['0', '1', '2'], name: 'three', large });
    });

    it('where tasks have written to the newest one: at an interrupt and an error', async () => {
      const asking = new StateGraph(State)
        .addNode('ask', () => ({ done: [interrupt<string, string>('what?')] }))
        .addNode('beside', () => ({ done: ['beside'] }))
        .addEdge(START, 'ask')
        .addEdge(START, 'beside')
        .compile();
      const asked = await run(uuidv7(), asking, {}, 'values', true);
      expect(countReads()).toBe(1);
      expect(asked.outcome.state?.next).toEqual(['ask']);
      expect(asked.outcome.state?.interrupts).toContain('what?');
      expect(asked.outcome.state?.values).toBe(JSON.stringify({ done: ['beside'] }));

      const failing = plain(() => Promise.reject(new Error('no work')));
      const failed = await run(uuidv7(), failing, { done: ['asked'] }, 'values', true);
      expect(countReads()).toBe(1);
      expect(failed.outcome).toMatchObject({
        status: 'error',
        state: { next: ['work'], values: '{"done":["asked"]}' },
      });
    });

    it('by a node that reads another thread or an earlier checkpoint, and not by one that reads its own state', async () => {
      const other = uuidv7();
      await run(other, changing, { name: 'other' });
      countReads();
      const seen: unknown[] = [];
      const reading = new StateGraph(State)
        .addNode('read', async (_, { configurable }: RunnableConfig) => {
          const saver = configurable!.__pregel_checkpointer as CheckpointSaver;
          for (const thread_id of [configurable!.thread_id as string, other]) {
            const tuple = await saver.getTuple({ configurable: { thread_id } });
            const before = tuple!.parentConfig && (await saver.getTuple(tuple!.parentConfig));
            seen.push([tuple!.metadata?.step, tuple!.checkpoint.channel_values.done, before?.metadata?.step]);
          }
          return { done: ['read'] };
        })
        .addEdge(START, 'read')
        .compile();
      await run(uuidv7(), reading, { done: ['asked'] }, 'values', true);
      // The parent of the own one, the other thread's, and its parent.
      expect(countReads()).toBe(3);
      expect(seen).toEqual([
        [0, ['asked'], -1],
        [1, ['0'], 0],
      ]);
    });
  });

  it('do not hold up the result of a task whose step continues', async () => {
    const threadId = uuidv7();
    const graph = new StateGraph(State)
      .addNode('quick', () => ({ done: ['quick'] }))
      .addNode('slow', async () => {
        await waitFor('the result of the other node', async () => (await written(threadId)).at(-1)?.writes === 1);
        return { done: ['slow'] };
      })
      .addEdge(START, 'quick')
      .addEdge(START, 'slow')
      .compile();
    const { outcome } = await run(threadId, graph, {}, 'custom');
    expect(outcome).toMatchObject({
      status: 'success',
      state: { values: JSON.stringify({ done: ['quick', 'slow'] }) },
    });
  });

  it('are not written after a result that could not be', async () => {
    const threadId = uuidv7();
    const graph = new StateGraph(State)
      .addNode('quick', async () => {
        await pool.query(`UPDATE runs SET attempt = 2 WHERE thread_id = $1`, [threadId]);
        return { done: ['quick'] };
      })
      .addNode('slow', async () => {
        // The result of the other node is refused meanwhile; the attempt owns the run again before the step ends.
        await waitFor('the refused statement', () => refused > 0);
        await pool.query(`UPDATE runs SET attempt = 1 WHERE thread_id = $1`, [threadId]);
        return { done: ['slow'] };
      })
      .addEdge(START, 'quick')
      .addEdge(START, 'slow')
      .compile();
    const query = TenantConnections.prototype.querySettingTenant;
    let refused = 0;
    const statements = jest.spyOn(TenantConnections.prototype, 'querySettingTenant').mockImplementation(async function (
      this: TenantConnections,
      ...asked
    ) {
      const result = await query.apply(this, asked);
      if (asked[0].includes('store_checkpoints') && result.rowCount === 0) refused += 1;
      return result;
    } as typeof query);
    await expect(run(threadId, graph, {}, 'custom')).rejects.toThrow('has lost the run');
    statements.mockRestore();
    expect((await written(threadId)).map(({ step }) => step)).toEqual([-1, 0]);
  });

  it('keep the writes of a step in the order in which the step applied them', async () => {
    const threadId = uuidv7();
    const items = Array.from({ length: 12 }, (_, index) => `item ${index}`);
    const graph = new StateGraph(State)
      .addNode('work', ({ item }: { item: string }) => ({ done: [item] }))
      .addConditionalEdges(START, () => items.map((item) => new Send('work', { item })))
      .compile();
    const { outcome } = await run(threadId, graph);
    expect(outcome).toMatchObject({ status: 'success', state: { values: JSON.stringify({ done: items }) } });

    const kept = async (): Promise<unknown[]> => {
      const saver = new CheckpointSaver(new TenantConnections(pool, { tenantId: TENANT }), TENANT);
      for await (const { metadata, pendingWrites } of saver.list({ configurable: { thread_id: threadId } })) {
        if (metadata?.step === 0) {
          return pendingWrites!.flatMap(([, channel, value]) => (channel === 'done' ? (value as unknown[]) : []));
        }
      }
      return [];
    };
    expect(await kept()).toEqual(items);
    // What an earlier release stored has no paths: it comes first, in the order of its tasks.
    await pool.query(
      `UPDATE ${CHECKPOINT_SCHEMA}.checkpoint_writes SET task_path = '' WHERE thread_id = $1 AND task_path LIKE '%0000000011%'`,
      [checkpointKey(TENANT, threadId)],
    );
    expect(await kept()).toEqual(['item 11', ...items.slice(0, 11)]);
  });

  it('keep the path of what an edit wrote, which the library orders in the same way', async () => {
    const saver = new CheckpointSaver(new TenantConnections(pool, { tenantId: TENANT }), TENANT);
    const threadId = uuidv7();
    const config = { configurable: { thread_id: threadId, checkpoint_ns: '', __pregel_checkpointer: saver } };
    const graph = plain(async () => undefined);
    await graph.updateState(config, { done: ['one'] }, 'work');
    await graph.updateState(config, { done: ['two'] }, 'work');
    const { rows } = await pool.query<{ task_path: string }>(
      `SELECT DISTINCT task_path FROM ${CHECKPOINT_SCHEMA}.checkpoint_writes WHERE thread_id = $1`,
      [checkpointKey(TENANT, threadId)],
    );
    expect(rows).toEqual([{ task_path: '~__interrupt__, 0000000000' }]);
    expect((await graph.getState(config)).values).toEqual({ done: ['one', 'two'] });
  });
});
