import { Pool, type PoolClient } from 'pg';
import { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../../src/auth/tenant';
import type { GraphHosts } from '../../src/graphs/host/graph-hosts';
import type { FinalState } from '../../src/graphs/host/protocol';
import type { AttemptEvents } from '../../src/runs/attempt-events';
import { RunCancellationRepository } from '../../src/runs/run-cancellation.repository';
import { closeLoneRun } from '../../src/runs/run-closing';
import { type CommittedEnd, RunEnder } from '../../src/runs/run-ender';
import { completedEnding } from '../../src/runs/run-ending';
import { RunListeners } from '../../src/runs/run-listeners';
import { RunLifecycleRepository } from '../../src/runs/run-lifecycle.repository';
import type { RunWebhooks } from '../../src/runs/run-webhooks';
import type { RunEntity } from '../../src/runs/run.entity';
import type { RunMetrics } from '../../src/runs/run.metrics';
import type { UntakenRuns } from '../../src/runs/untaken-runs';
import { RunOrchestrator } from '../../src/temporal/run-orchestrator';
import type { WebhookOrchestrator } from '../../src/temporal/webhook-orchestrator';
import type { RunStatus } from '../../src/database/run-status';
import { HOLDS_RUN } from '../../src/database/fence';
import { TENANT_SETTING } from '../../src/database/tenant-isolation';
import { EventPartitionSweep } from '../../src/streams/event-partitions';
import { EventLogRepository } from '../../src/streams/event-log.repository';
import { END_EVENT, type RunEvent } from '../../src/streams/run-event';
import { startTestApi, type TestApi } from '../support/api';
import { waitFor } from '../support/wait-for';

const REVISION = 'code';

describe('a run', () => {
  let api: TestApi;
  let pool: Pool;
  let runs: RunLifecycleRepository;
  let newLifecycle: () => RunLifecycleRepository;
  let cancellation: RunCancellationRepository;
  let log: EventLogRepository;

  beforeAll(async () => {
    api = await startTestApi();
    pool = new Pool({ connectionString: api.database.url, max: 4 });
    const database = api.app.get(DataSource);
    newLifecycle = () => new RunLifecycleRepository(database, api.app.get(RunListeners, { strict: false }));
    runs = newLifecycle();
    cancellation = api.app.get(RunCancellationRepository, { strict: false });
    log = new EventLogRepository(database);
  });

  afterAll(async () => {
    await pool?.end();
    await api?.close();
  });

  async function insertThread(): Promise<string> {
    const threadId = uuidv7();
    await pool.query(`INSERT INTO threads (thread_id, tenant_id, status) VALUES ($1, $2, 'busy')`, [
      threadId,
      api.config.auth.defaultTenantId,
    ]);
    return threadId;
  }

  async function insertRun(
    threadId: string,
    status: RunStatus = 'pending',
    attempt = 0,
    client: Pick<Pool, 'query'> = pool,
  ): Promise<string> {
    const runId = uuidv7();
    await client.query(
      `INSERT INTO runs (run_id, tenant_id, thread_id, assistant_id, graph_id, status, attempt, task_queue, kwargs, multitask_strategy)
       VALUES ($1, $2, $3, $1, 'graph', $4, $5, 'theirs', '{}', 'enqueue')`,
      [runId, api.config.auth.defaultTenantId, threadId, status, attempt],
    );
    return runId;
  }

  const begin = (runId: string, queue = 'ours') => runs.beginRun(runId, REVISION, queue);

  const eventless = { rest: async () => [] } as unknown as AttemptEvents;

  /** Ends runs whose thread is in this state without them. */
  function enderThatFinds(state: FinalState): RunEnder {
    const graphs = { call: async () => JSON.stringify(state) } as unknown as GraphHosts;
    const deliveries = { startStored: async () => undefined } as unknown as WebhookOrchestrator;
    const untaken = { start: async () => undefined } as unknown as UntakenRuns;
    const metrics = { runEnded: () => undefined } as unknown as RunMetrics;
    return new RunEnder(runs, graphs, {} as RunWebhooks, deliveries, untaken, metrics);
  }

  /** The run as its first attempt has it. */
  async function owned(runId: string): Promise<RunEntity> {
    const begun = await begin(runId);
    if (begun.state !== 'held') throw new Error(`The run is ${begun.state}`);
    return begun.run;
  }

  async function threadStatus(threadId: string): Promise<string> {
    const { rows } = await pool.query<{ status: string }>('SELECT status FROM threads WHERE thread_id = $1', [
      threadId,
    ]);
    return rows[0].status;
  }

  /** Does something that has to wait for a caller who has the thread's lock, and who changes something before it ends. */
  async function besideLock<T>(
    threadId: string,
    change: (client: PoolClient) => Promise<unknown>,
    work: () => Promise<T>,
  ): Promise<T> {
    const other = await pool.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT FROM threads WHERE thread_id = $1 FOR UPDATE', [threadId]);
      const working = work();
      await waitFor('it to wait', async () => {
        const { rowCount } = await pool.query(
          `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        );
        return rowCount! > 0;
      });
      await change(other);
      await other.query('COMMIT');
      return await working;
    } finally {
      other.release();
    }
  }

  /** Does something while a caller cancels the run, who has the thread already and not the run yet. */
  function besideCancel<T>(threadId: string, runId: string, work: () => Promise<T>): Promise<T> {
    const cancel = (client: PoolClient) =>
      client.query(`UPDATE runs SET cancel_action = 'interrupt' WHERE run_id = $1`, [runId]);
    return besideLock(threadId, cancel, work);
  }

  describe('is begun', () => {
    it('together with others, each as if it were alone', async () => {
      const shared = await insertThread();
      const [first, second] = [await insertRun(shared), await insertRun(shared)];
      const locked = await insertThread();
      const [waiting, twice, ended] = [
        await insertRun(locked),
        await insertRun(await insertThread()),
        await insertRun(await insertThread(), 'success', 1),
      ];
      const ids = [first, second, twice, twice, ended, uuidv7()];
      const begun = await besideLock(
        locked,
        () => Promise.resolve(),
        () => Promise.all([...ids, waiting].map((runId) => begin(runId))),
      );
      const stateOf = (each: (typeof begun)[number]): string => (each.state === 'ended' ? each.ending : each.state);
      expect(begun.slice(0, 2).map(stateOf).sort()).toEqual(['held', 'waiting']);
      expect(begun.slice(2).map(stateOf)).toEqual(['held', 'elsewhere', 'success', 'deleted', 'held']);
      const { rows } = await pool.query<{ run_id: string; attempt: number }>(
        `SELECT run_id, attempt FROM runs WHERE run_id = ANY($1) AND status = 'running'`,
        [[...ids, waiting]],
      );
      expect(rows.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    });

    it('by one of all workers that try, and the others learn where it is', async () => {
      const runId = await insertRun(await insertThread());
      const queues = Array.from({ length: 8 }, (_, index) => `queue-${index}`);
      const begun = await Promise.all(queues.map((queue) => newLifecycle().beginRun(runId, REVISION, queue)));
      const held = begun.flatMap((each) => (each.state === 'held' ? [each] : []));
      expect(held).toHaveLength(1);
      const { run, nextSeq, before } = held[0];
      expect(run).toMatchObject({ runId, status: 'running', attempt: 1, metadata: { revision_id: REVISION } });
      expect([run.startedAt, nextSeq, before]).toEqual([expect.any(Date), 0, null]);
      const others = begun.filter((each) => each.state !== 'held');
      const { taskQueue, startedAt } = run;
      expect(others).toEqual(Array(7).fill({ state: 'elsewhere', taskQueue, startedAt }));
      const { rows } = await pool.query(`SELECT status, attempt, task_queue, started_at FROM runs WHERE run_id = $1`, [
        runId,
      ]);
      expect(rows).toEqual([{ status: 'running', attempt: 1, task_queue: run.taskQueue, started_at: run.startedAt }]);
    });

    it('only while it waits: one that has ended or was deleted is reported as such', async () => {
      const ended = await begin(await insertRun(await insertThread(), 'interrupted', 1));
      expect(ended).toMatchObject({ state: 'ended', ending: 'interrupted' });
      expect(await begin(uuidv7())).toEqual({ state: 'ended', ending: 'deleted', run: null });
    });

    it('not while another one of its thread is running', async () => {
      const threadId = await insertThread();
      await insertRun(threadId, 'running', 1);
      const waiting = await insertRun(threadId);
      expect(await begin(waiting)).toMatchObject({ state: 'ended', ending: 'waiting' });
      expect((await runs.findRunById(waiting))?.status).toBe('pending');
    });

    it('by one of two that wait on a thread and begin at the same time', async () => {
      for (let round = 0; round < 20; round += 1) {
        const threadId = await insertThread();
        const two = [await insertRun(threadId), await insertRun(threadId)];
        const begun = await Promise.all(two.map((runId) => begin(runId)));
        expect(begun.map((each) => (each.state === 'ended' ? each.ending : each.state)).sort()).toEqual([
          'held',
          'waiting',
        ]);
      }
    });

    it('after a concurrent transaction on its thread, and on the run, has committed', async () => {
      const threadId = await insertThread();
      const runId = await insertRun(threadId);
      const begun = await besideCancel(threadId, runId, () => begin(runId));
      expect(begun).toMatchObject({ state: 'held', run: { cancelAction: 'interrupt' } });
    });

    it('with the outcome of the attempt before, if there was one', async () => {
      const runId = await insertRun(await insertThread(), 'pending', 1);
      expect(await begin(runId)).toMatchObject({ state: 'held', run: { attempt: 2 }, before: { lostAttempts: 0 } });
    });
  });

  describe('is cancelled', () => {
    const tenantId = (): TenantId => api.config.auth.defaultTenantId as TenantId;

    it.each([
      ['rollback', 'interrupt', 'requested'],
      ['interrupt', 'rollback', 'disconnected'],
    ] as const)('by %s and then by %s: the rollback is not given up', async (first, second, reason) => {
      const run = await owned(await insertRun(await insertThread()));
      await cancellation.cancelRuns(tenantId(), [run], first, 'requested');
      await cancellation.cancelRuns(tenantId(), [run], second, 'disconnected');
      const { rows } = await pool.query('SELECT cancel_action, cancel_reason FROM runs WHERE run_id = $1', [run.runId]);
      expect(rows).toEqual([{ cancel_action: 'rollback', cancel_reason: reason }]);
    });

    const state = { values: '{"before":true}', interrupts: '{}', next: [] };
    const error = { error: 'Error', message: 'The tool is broken' };

    it.each<[string, (ender: RunEnder, run: RunEntity) => Promise<CommittedEnd>]>([
      ['successfully', (ender, run) => ender.endRun(run, { status: 'success', state }, eventless)],
      ['in an error', (ender, run) => ender.endRun(run, { status: 'error', error, state }, eventless)],
      ['by its time limit', (ender, { runId }) => ender.endLostRun({ runId, ending: 'timeout' })],
    ])('by rollback when its graph has ended %s, before its end is stored: it is deleted', async (_, end) => {
      const threadId = await insertThread();
      const run = await owned(await insertRun(threadId));
      const waiting = await insertRun(threadId);
      const event = { tenantId: run.tenantId, runId: run.runId, attempt: 1, seq: 0, event: 'values', data: '{"a":1}' };
      await log.appendEvents([event]);
      await cancellation.cancelRuns(tenantId(), [run], 'rollback', 'requested');
      expect(await end(enderThatFinds(state), run)).toMatchObject({
        result: { ending: 'deleted' },
        next: { runId: waiting },
      });
      expect(await runs.findRunById(run.runId)).toBeNull();
      const { rows } = await pool.query('SELECT event, data FROM run_events WHERE run_id = $1', [run.runId]);
      expect(rows).toEqual([{ event: END_EVENT, data: '{"status":"deleted","result":{}}' }]);
      const { rows: threads } = await pool.query('SELECT status, "values" FROM threads WHERE thread_id = $1', [
        threadId,
      ]);
      expect(threads).toEqual([{ status: 'busy', values: { before: true } }]);
    });

    it('while Temporal does not answer, as are its deletion and a run in its place: no caller waits', async () => {
      const orchestrator = api.app.get(RunOrchestrator, { strict: false });
      const unanswered = jest.spyOn(orchestrator, 'cancelRun').mockReturnValue(new Promise(() => undefined));
      try {
        const run = await owned(await insertRun(await insertThread()));
        await pool.query(`UPDATE runs SET graph_id = 'agent' WHERE run_id = $1`, [run.runId]);
        const path = `/threads/${run.threadId}/runs`;
        const body = { assistant_id: 'agent', input: {}, multitask_strategy: 'interrupt' };
        for (const [method, of, sent] of [
          ['POST', `${path}/${run.runId}/cancel`, undefined],
          ['POST', path, body],
          ['DELETE', `${path}/${run.runId}`, undefined],
          ['DELETE', `/threads/${run.threadId}`, undefined],
        ] as const) {
          const response = await fetch(api.url + of, {
            method,
            ...(sent && { body: JSON.stringify(sent), headers: { 'content-type': 'application/json' } }),
            signal: AbortSignal.timeout(5_000),
          });
          expect([of, response.ok]).toEqual([of, true]);
        }
        expect(unanswered).toHaveBeenCalledTimes(4);
      } finally {
        unanswered.mockRestore();
      }
    });

    async function insertTemporaryThread(): Promise<string> {
      const threadId = await insertThread();
      await pool.query('UPDATE threads SET temporary = true WHERE thread_id = $1', [threadId]);
      return threadId;
    }

    async function isKept(threadId: string): Promise<boolean> {
      const { rows } = await pool.query<{ kept: boolean }>(
        `SELECT delete_after > now() + interval '30 minutes' AS kept FROM threads WHERE thread_id = $1`,
        [threadId],
      );
      return rows[0].kept;
    }

    it.each([
      ['interrupt', true],
      ['rollback', false],
    ] as const)(
      'while it waits, by %s: a stateless one is kept like any other that has ended: %s',
      async (action, kept) => {
        const threadId = await insertTemporaryThread();
        const run = (await runs.findRunById(await insertRun(threadId)))!;
        await cancellation.cancelRuns(tenantId(), [run], action, 'requested');
        expect(await isKept(threadId)).toBe(kept);
        expect(await threadStatus(threadId)).toBe('idle');
      },
    );

    it('too late, when it has ended: the result of a stateless one is kept for as long, unless the run is deleted', async () => {
      const threadId = await insertTemporaryThread();
      const run = await owned(await insertRun(threadId));
      await runs.endOwnedRun(run, completedEnding('success', undefined));
      await cancellation.cancelRuns(tenantId(), [run], 'interrupt', 'disconnected');
      expect(await isKept(threadId)).toBe(true);
      await cancellation.deleteRun(tenantId(), run);
      expect(await isKept(threadId)).toBe(false);
    });
  });

  describe('is taken over', () => {
    it('from the process that lost it only, where that is known, and from no process otherwise', async () => {
      const runId = await insertRun(await insertThread());
      await begin(runId);
      const takeOver = (from: string | null) => runs.takeOverRun(runId, REVISION, 'theirs', from);
      for (const from of [null, 'another']) {
        expect(await takeOver(from)).toEqual({ state: 'elsewhere', taskQueue: 'ours' });
      }
      expect(await takeOver('ours')).toMatchObject({ state: 'held', run: { attempt: 2, taskQueue: 'theirs' } });
      await runs.recordHandBack(runId, 2);
      expect(await takeOver(null)).toMatchObject({ state: 'held', run: { attempt: 3 } });
    });

    it('from no process while it waits', async () => {
      const runId = await insertRun(await insertThread());
      expect(await runs.takeOverRun(runId, REVISION, 'ours', null)).toMatchObject({
        state: 'held',
        run: { attempt: 1 },
      });
    });
  });

  describe('is lost', () => {
    const next = async (runId: string) => {
      const held = await runs.takeOverRun(runId, REVISION, 'a-queue');
      if (held.state !== 'held') throw new Error(`The run is ${held.state}`);
      return { attempt: held.run.attempt, before: held.before };
    };

    it('with its host: it is a suspect at once, and only an attempt that ran alone counts', async () => {
      const runId = await insertRun(await insertThread());
      await begin(runId);
      await runs.recordHostLoss(runId, 1);
      expect(await next(runId)).toEqual({
        attempt: 2,
        before: { handedBack: false, lostAttempts: 0, isSuspect: true },
      });
      // The attempt was lost before the run had a process of its own.
      expect(await next(runId)).toMatchObject({ attempt: 3, before: { lostAttempts: 0, isSuspect: true } });
      await runs.recordAlone(runId, 3);
      await runs.recordHostLoss(runId, 3);
      expect(await next(runId)).toMatchObject({ attempt: 4, before: { lostAttempts: 1, isSuspect: true } });
      // A fenced attempt changes nothing.
      await runs.recordAlone(runId, 3);
      expect(await next(runId)).toMatchObject({ attempt: 5, before: { lostAttempts: 1, isSuspect: true } });
    });

    it('with its worker: it is a suspect after the second time', async () => {
      const runId = await insertRun(await insertThread());
      await begin(runId);
      expect(await next(runId)).toMatchObject({ before: { lostAttempts: 0, isSuspect: false } });
      expect(await next(runId)).toMatchObject({ before: { lostAttempts: 0, isSuspect: true } });
    });

    it('and is no suspect once it was handed back', async () => {
      const runId = await insertRun(await insertThread());
      await begin(runId);
      await runs.recordHostLoss(runId, 1);
      expect(await next(runId)).toMatchObject({ before: { isSuspect: true } });
      await runs.recordHandBack(runId, 2);
      expect(await next(runId)).toMatchObject({ before: { handedBack: true, lostAttempts: 0, isSuspect: false } });
    });
  });

  it('is found by its id, however many others are running or pending', async () => {
    // The planner's statistics are from an hour in which nothing ran.
    const ended = await insertThread();
    await pool.query(
      `INSERT INTO runs (run_id, tenant_id, thread_id, assistant_id, graph_id, status, attempt, kwargs, multitask_strategy)
       SELECT gen_random_uuid(), $1, $2, $2, 'graph', 'success', 1, '{}', 'enqueue' FROM generate_series(1, 2000)`,
      [api.config.auth.defaultTenantId, ended],
    );
    await pool.query('ANALYZE runs');
    for (let others = 0; others < 50; others += 1) {
      await insertRun(await insertThread(), 'running', 1);
      await insertRun(await insertThread());
    }
    const run = await owned(await insertRun(await insertThread()));
    const client = await pool.connect();
    const rowsRead = async (work: () => Promise<unknown>): Promise<number> => {
      // Otherwise the figures contain those of transactions of the last second.
      await client.query('SELECT pg_stat_force_next_flush()');
      await client.query('BEGIN');
      await client.query(`SELECT set_config($1, $2, true)`, [TENANT_SETTING, run.tenantId]);
      await work();
      const { rows } = await client.query<{ read: number }>(
        `SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_xact_user_tables WHERE relname = 'runs'`,
      );
      await client.query('COMMIT');
      return rows[0].read;
    };
    const checkFence = async (): Promise<void> => {
      const { rows } = await client.query(HOLDS_RUN, [run.runId, run.attempt]);
      expect(rows).toHaveLength(1);
    };
    const query = async (statement: string, values: unknown[]): Promise<unknown[]> =>
      (await client.query(statement, values)).rows;
    const append = async (): Promise<void> => {
      const event = {
        tenantId: run.tenantId,
        runId: run.runId,
        attempt: run.attempt,
        seq: 0,
        event: 'custom',
        data: '1',
      };
      expect(await new EventLogRepository({ query } as DataSource).appendEvents([event])).toEqual(new Set([run.runId]));
    };
    const end = async (): Promise<void> => {
      const ended = await closeLoneRun({ query } as DataSource, run, completedEnding('success', undefined));
      expect(ended).toMatchObject({ runId: run.runId, status: 'success' });
    };
    try {
      expect(await rowsRead(checkFence)).toBeLessThan(10);
      expect(await rowsRead(append)).toBeLessThan(10);
      expect(await rowsRead(end)).toBeLessThan(10);
    } finally {
      client.release();
    }
  });

  describe('ends', () => {
    it('with its last events before the end, numbered in sequence', async () => {
      const threadId = await insertThread();
      const runId = await insertRun(threadId);
      const run = await owned(runId);
      const event = { tenantId: api.config.auth.defaultTenantId, runId, attempt: 1, event: 'values', data: '{"a":1}' };
      await log.appendEvents([{ ...event, seq: 0 }]);
      const rest = [
        { event: 'updates', data: '{"b":"\\"2\\""}', fact: 'task' },
        { event: 'values', data: '{"b":2}' },
      ];
      const ended = await runs.endOwnedRun(run, { ...completedEnding('success', undefined), rest });
      expect(ended).toMatchObject({ run: { status: 'success' }, status: 'success', next: null });
      expect(await threadStatus(threadId)).toBe('idle');
      const { rows } = await pool.query(
        `SELECT seq, event, data, fact FROM run_events WHERE run_id = $1 ORDER BY seq`,
        [runId],
      );
      expect(rows).toEqual([
        { seq: 0, event: 'values', data: '{"a":1}', fact: null },
        { seq: 1, ...rest[0] },
        { seq: 2, ...rest[1], fact: null },
        { seq: 3, event: END_EVENT, data: '{"status":"success","result":{}}', fact: null },
      ]);
    });

    it('with a log whose rows hold several events, which is read from each of them on', async () => {
      const runId = await insertRun(await insertThread());
      const run = await owned(runId);
      const event = { tenantId: api.config.auth.defaultTenantId, runId, attempt: 1 };
      const numbers = Array.from({ length: 300 }, (_, index) => index);
      const written = [
        ...numbers.slice(0, 250).map((number) => ({ event: 'messages', data: `[{"content":"${number} 😀"}]` })),
        { event: 'updates', data: '{"a":1}', fact: 'task' },
        ...numbers.slice(0, 5).map((number) => ({ event: 'updates|sub:1', data: `{"sub":${number}}` })),
        ...numbers.slice(250).map((number) => ({ event: 'messages', data: `[{"content":"${number} 😁"}]` })),
        { event: 'custom', data: '1' },
        { event: 'custom', data: '2' },
      ];
      const all = written.map(({ event: name, data }, seq) => ({ seq, event: name, data }));
      const appended = written.slice(0, 270).map((each, seq) => ({ ...event, ...each, seq }));
      await log.appendEvents(appended.slice(0, 30));
      await log.appendEvents(appended.slice(30));
      expect(await log.findEmitted(runId)).toEqual({
        updates: {
          updates: ['{"a":1}'],
          'updates|sub:1': ['{"sub":4}', '{"sub":3}', '{"sub":2}', '{"sub":1}', '{"sub":0}'],
        },
        facts: ['updates task'],
      });
      await runs.endOwnedRun(run, { ...completedEnding('success', undefined), rest: written.slice(270) });
      all.push({ seq: written.length, event: END_EVENT, data: '{"status":"success","result":{}}' });
      expect(await log.lastOf(runId, ['custom', 'updates'])).toMatchObject({ event: 'custom', data: '2' });
      expect((await pool.query('SELECT FROM run_events WHERE run_id = $1', [runId])).rowCount).toBeLessThan(20);
      for (const after of all.keys()) {
        const [{ events, isLast }] = await log.readMany([{ runId, after }]);
        expect(events).toEqual(all.slice(after + 1, after + 1 + events.length));
        expect(events.length > 0).toBe(after + 1 < all.length);
        if (after + 1 + events.length < all.length) expect(isLast).toBe(false);
        if (events.length < 200) expect(isLast).toBe(after + 1 + events.length === all.length);
      }
      const pages: RunEvent[][] = [];
      for await (const page of log.readAll(runId)) pages.push(page);
      expect(pages.flat()).toEqual(all);
      expect(pages.length).toBeGreaterThan(1);
    });

    it.each([
      ['in flight', false],
      ['has ended', true],
    ])(
      'and leaves nothing but the end of its log when it is deleted (%s), which readers of any event find',
      async (_, hasEnded) => {
        const runId = await insertRun(await insertThread());
        const run = await owned(runId);
        const event = { tenantId: run.tenantId, runId, attempt: 1 };
        // Rows of their own, since their names differ.
        const events = Array.from({ length: 300 }, (__, seq) => ({
          ...event,
          seq,
          event: `updates|${seq % 2}`,
          data: '{"a":1}',
        }));
        await log.appendEvents(events);
        const state = { values: '{"secret":1}', interrupts: '{}', next: [] };
        if (hasEnded) await runs.endOwnedRun(run, completedEnding('success', state));
        await cancellation.deleteRun(run.tenantId as TenantId, run);
        const { rows } = await pool.query<{ seq: number }>(
          'SELECT seq, event, data FROM run_events WHERE run_id = $1',
          [runId],
        );
        const [{ seq }] = rows;
        const end = { seq, event: END_EVENT, data: '{"status":"deleted","result":{}}' };
        expect(rows).toEqual([end]);
        for (const after of [-1, 10, seq - 1]) {
          expect(await log.readMany([{ runId, after }])).toEqual([{ events: [end], isLast: true }]);
        }
        expect(await log.readMany([{ runId, after: seq }])).toEqual([{ events: [], isLast: true }]);
      },
    );

    it('after a concurrent cancellation has committed', async () => {
      const threadId = await insertThread();
      const runId = await insertRun(threadId);
      const run = await owned(runId);
      const end = () => runs.endOwnedRun(run, completedEnding('success', undefined));
      expect(await besideCancel(threadId, runId, end)).toMatchObject({ run: { status: 'success', attempt: 1 } });
    });

    it('and is followed by a run that waits, also by one that is inserted meanwhile', async () => {
      const threadId = await insertThread();
      const run = await owned(await insertRun(threadId));
      const waiting = await insertRun(threadId);
      const ended = await runs.endOwnedRun(run, completedEnding('success', undefined));
      expect(ended).toMatchObject({ run: { status: 'success' }, next: { runId: waiting } });
      expect(await threadStatus(threadId)).toBe('busy');
      const second = await owned(waiting);
      let inserted = '';
      const beside = await besideLock(
        threadId,
        async (other) => {
          inserted = await insertRun(threadId, 'pending', 0, other);
        },
        () => runs.endOwnedRun(second, completedEnding('success', undefined)),
      );
      expect(beside).toMatchObject({ run: { status: 'success' }, next: { runId: inserted } });
      expect(await threadStatus(threadId)).toBe('busy');
    });

    it('by the attempt that owns it only, without events of another', async () => {
      const runId = await insertRun(await insertThread());
      const first = await owned(runId);
      await runs.takeOverRun(runId, REVISION, 'theirs');
      const rest = [{ event: 'values', data: '{}' }];
      expect(await runs.endOwnedRun(first, { ...completedEnding('success', undefined), rest })).toBeNull();
      const { rowCount } = await pool.query(`SELECT FROM run_events WHERE run_id = $1`, [runId]);
      expect(rowCount).toBe(0);
    });
  });

  it('leaves its events, for as long as they are kept, in the partition of days without one', async () => {
    const { eventRetentionMs } = api.config.runs;
    const before = (ms: number) => uuidv7({ msecs: Date.now() - ms });
    const [past, running, late, recent] = [
      before(2 * eventRetentionMs),
      before(2 * eventRetentionMs),
      before(2 * eventRetentionMs),
      before(eventRetentionMs / 2),
    ];
    const all = [past, running, late, recent];
    // Enough of them that one statement does not delete all.
    await pool.query(
      `INSERT INTO run_events_default (run_id, seq, tenant_id, event, data)
       SELECT run_id, seq, $2, 'values', '{}' FROM unnest($1::uuid[]) run_id, generate_series(0, 6000) seq`,
      [all, api.config.auth.defaultTenantId],
    );
    const inserted = await insertRun(await insertThread(), 'running', 1);
    await pool.query('UPDATE runs SET run_id = $2 WHERE run_id = $1', [inserted, running]);
    const ended = await insertRun(await insertThread(), 'success', 1);
    await pool.query('UPDATE runs SET run_id = $2, ended_at = now() WHERE run_id = $1', [ended, late]);
    await new EventPartitionSweep(api.config, api.app.get(DataSource)).sweep();
    const { rows } = await pool.query<{ run_id: string }>(
      'SELECT DISTINCT run_id FROM run_events_default WHERE run_id = ANY($1)',
      [all],
    );
    expect(rows.map(({ run_id }) => run_id).sort()).toEqual([running, late, recent].sort());
  });

  it('leaves its events in the partition of the day on which it was created, for as long as after any end', async () => {
    const DAY_MS = 86_400_000;
    const { eventRetentionMs } = api.config.runs;
    const day = Math.floor((Date.now() - 3 * eventRetentionMs) / DAY_MS) * DAY_MS;
    const name = `run_events_${new Date(day).toISOString().slice(0, 10).replaceAll('-', '')}`;
    const edge = (time: number): string => uuidv7({ msecs: time }).slice(0, 13) + '-0000-0000-000000000000';
    await pool.query(
      `CREATE TABLE ${name} PARTITION OF run_events FOR VALUES FROM ('${edge(day)}') TO ('${edge(day + DAY_MS)}')`,
    );
    const sweep = async (): Promise<boolean> => {
      await new EventPartitionSweep(api.config, api.app.get(DataSource)).sweep();
      const { rows } = await pool.query<{ kept: boolean }>('SELECT to_regclass($1) IS NOT NULL AS kept', [name]);
      return rows[0].kept;
    };
    const inserted = await insertRun(await insertThread(), 'success', 1);
    const runId = uuidv7({ msecs: day + 1 });
    await pool.query('UPDATE runs SET run_id = $2, ended_at = now() WHERE run_id = $1', [inserted, runId]);
    expect(await sweep()).toBe(true);
    await pool.query(`UPDATE runs SET ended_at = now() - $2 * interval '1 millisecond' WHERE run_id = $1`, [
      runId,
      eventRetentionMs + 1_000,
    ]);
    expect(await sweep()).toBe(false);
  });

  it('gets no partition while a long transaction reads the log, and does not wait for it', async () => {
    const sweep = (): Promise<void> => new EventPartitionSweep(api.config, api.app.get(DataSource)).sweep();
    const newest = async (): Promise<string> => {
      const { rows } = await pool.query<{ name: string }>(
        `SELECT max(inhrelid::regclass::text) FILTER (WHERE inhrelid <> 'run_events_default'::regclass) AS name
         FROM pg_inherits WHERE inhparent = 'run_events'::regclass`,
      );
      return rows[0].name;
    };
    await sweep();
    const last = await newest();
    await pool.query(`DROP TABLE ${last}`);
    const backup = await pool.connect();
    try {
      await backup.query('BEGIN; SELECT FROM run_events LIMIT 0');
      await sweep();
      expect(await newest()).not.toBe(last);
    } finally {
      await backup.query('ROLLBACK');
      backup.release();
    }
    await sweep();
    expect(await newest()).toBe(last);
  });
});
