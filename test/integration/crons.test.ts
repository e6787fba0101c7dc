import type { Client } from '@langchain/langgraph-sdk';
import { v7 as uuidv7 } from 'uuid';
import { CronSchedule } from '../../src/crons/cron-schedule';
import { type Gantry, startGantry } from '../support/gantry';
import { CRON_GRAPHS_IN_BOTH_LANGUAGES, describeInBothLanguages } from '../support/languages';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

const EVERY_SECOND = '* * * * * *';
const NEVER_SOON = '0 0 1 1 *';
const HOUR = 3_600_000;

/**
 * Around a change from summer time, Temporal's server leaves out ticks in some time zones: there the sweep wakes the cron.
 */
function isWhereClockGoesBack(tick: string, timezone: string | null): boolean {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone ?? 'UTC',
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  });
  const minuteOf = (at: number): number => {
    const [hour, minute] = format.format(at).split(':').map(Number);
    return hour * 60 + minute;
  };
  const at = Date.parse(tick);
  return (minuteOf(at + 2 * HOUR) - minuteOf(at - 2 * HOUR) + 24 * 60) % (24 * 60) < 4 * 60;
}

interface CronRun {
  run_id: string | null;
  thread_id: string | null;
  trigger: string;
  status: string;
  scheduled_at: string;
  fired_at: string | null;
  error: string | null;
  missed_ticks: number;
}

interface Cron {
  cron_id: string;
  thread_id: string | null;
  assistant_id: string;
  schedule: string;
  timezone: string | null;
  end_time: string | null;
  payload: Record<string, unknown>;
  metadata: Record<string, unknown>;
  on_run_completed: string | null;
  enabled: boolean;
  next_run_date: string | null;
  status: string;
  status_reason: string | null;
  last_run: CronRun | null;
  consecutive_failures: number;
  last_failure: { error: string; run_id: string | null } | null;
}

interface Answer<T> {
  status: number;
  body: T;
  headers: Headers;
}

describe('crons', () => {
  let gantry: Gantry;
  let client: Client;
  let receiver: WebhookReceiver;
  /** Paused in Temporal alone, at the start: Gantry looks there once in a quarter of a minute. */
  let pausedElsewhere: Cron;

  beforeAll(async () => {
    receiver = await new WebhookReceiver().start();
    gantry = await startGantry({
      sweepSeconds: 1,
      graphs: CRON_GRAPHS_IN_BOTH_LANGUAGES,
      graphProcesses: 1,
      env: { GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' },
    });
    client = gantry.client();
    pausedElsewhere = await create({ schedule: '*/10 * * * *' });
    await schedule(pausedElsewhere.cron_id).pause('Not today');
  });

  afterAll(async () => {
    await gantry?.stop();
    await receiver?.stop();
  });

  // A cron that continues to tick would disturb the next test.
  afterEach(async () => {
    const crons = (await search({ limit: 1000 })).filter(({ cron_id }) => cron_id !== pausedElsewhere.cron_id);
    for (const { cron_id } of crons) await ask('DELETE', `/runs/crons/${cron_id}`);
  });

  async function ask<T = Cron>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const response = await fetch(gantry.url + path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, body: (isJson ? JSON.parse(text) : text) as T, headers: response.headers };
  }

  async function create(body: Record<string, unknown> = {}, thread?: string): Promise<Cron> {
    const path = thread === undefined ? '/runs/crons' : `/threads/${thread}/runs/crons`;
    const answer = await ask('POST', path, { assistant_id: 'three', schedule: NEVER_SOON, ...body });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  }

  const get = async (cronId: string): Promise<Cron> => (await ask('GET', `/runs/crons/${cronId}`)).body;
  const search = async (body: object): Promise<Cron[]> => (await ask<Cron[]>('POST', '/runs/crons/search', body)).body;
  const runsOf = async (cronId: string): Promise<CronRun[]> =>
    (await ask<CronRun[]>('GET', `/runs/crons/${cronId}/runs?limit=1000`)).body;
  const schedule = (cronId: string) => gantry.temporal.schedule.getHandle(`cron-${cronId}`);
  const isScheduled = (cronId: string): Promise<boolean> =>
    schedule(cronId)
      .describe()
      .then(
        () => true,
        () => false,
      );
  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

  /** The cron's runs, once so many of them have this status. */
  const untilRuns = (cronId: string, count: number, status = 'success'): Promise<CronRun[]> =>
    waitFor(
      `${count} runs of the cron with status ${status}`,
      async () => {
        const runs = await runsOf(cronId);
        return runs.filter((run) => run.status === status).length >= count && runs;
      },
      90_000,
    );

  describeInBothLanguages('on schedule, of graphs in $language,', ({ named }) => {
    it('run each tick once, on separate threads, and show the outcomes', async () => {
      const before = Date.now();
      const cron = await create({
        assistant_id: named('three'),
        schedule: EVERY_SECOND,
        input: {},
        metadata: { team: 'a' },
      });
      expect(cron).toMatchObject({ thread_id: null, on_run_completed: 'delete', enabled: true, status: 'active' });
      expect(Date.parse(cron.next_run_date!) - before).toBeLessThan(10_000);
      const runs = (await untilRuns(cron.cron_id, 3)).filter(({ status }) => status !== 'pending');
      const ticks = runs.map(({ scheduled_at }) => scheduled_at);
      expect(new Set(ticks).size).toBe(ticks.length);
      expect(new Set(runs.map(({ run_id }) => run_id)).size).toBe(runs.length);
      for (const run of runs) {
        expect(run.trigger).toBe('schedule');
        expect(Date.parse(run.scheduled_at) % 1000).toBe(0);
        expect(Date.parse(run.fired_at!)).toBeGreaterThanOrEqual(Date.parse(run.scheduled_at));
      }
      const done = runs.find(({ status }) => status === 'success')!;
      const response = await ask<Record<string, Record<string, unknown>>>('GET', `/runs/${done.run_id}`);
      expect(response.body).toMatchObject({
        run_id: done.run_id,
        status: 'success',
        metadata: { team: 'a', created_by: 'system', cron_id: cron.cron_id },
        kwargs: { config: { configurable: { cron_id: cron.cron_id, cron_scheduled_at: done.scheduled_at } } },
      });
      expect(await get(cron.cron_id)).toMatchObject({
        last_run: { trigger: 'schedule' },
        consecutive_failures: 0,
        last_failure: null,
      });
      expect(await client.threads.search({ metadata: { cron_id: cron.cron_id } })).toEqual([]);
    });

    it('run on one thread when they have one, one tick after the other', async () => {
      const thread = await newThread();
      const cron = await create(
        { assistant_id: named('three'), schedule: EVERY_SECOND, input: {}, on_run_completed: 'keep' },
        thread,
      );
      expect(cron).toMatchObject({ thread_id: thread, on_run_completed: null });
      await untilRuns(cron.cron_id, 2);
      await ask('POST', `/runs/crons/${cron.cron_id}/pause`);
      await waitFor('no pending tick', async () =>
        (await runsOf(cron.cron_id)).every(({ status }) => status !== 'pending'),
      );
      const onThread = (await client.runs.list(thread, { limit: 100 })).map(({ run_id }) => run_id);
      const fired = (await runsOf(cron.cron_id)).map(({ run_id }) => run_id);
      expect(onThread).toEqual(expect.arrayContaining(fired));
      expect(onThread).toHaveLength(fired.length);
    });

    it('pass the whole payload through, and deliver the webhook', async () => {
      const path = `/hook/${named('sleep')}`;
      const cron = await create({
        assistant_id: named('sleep'),
        schedule: EVERY_SECOND,
        input: { note: 'from the cron' },
        config: { tags: ['nightly'], recursion_limit: 7, configurable: { flavour: 'mint' } },
        stream_mode: ['values', 'updates'],
        stream_subgraphs: true,
        interrupt_after: ['nap'],
        durability: 'sync',
        webhook: `${receiver.url(path)}?token=secret-of-the-cron`,
      });
      expect(cron.payload).toMatchObject({
        assistant_id: cron.assistant_id,
        cron_id: cron.cron_id,
        schedule: EVERY_SECOND,
        input: { note: 'from the cron' },
        stream_mode: ['values', 'updates'],
      });
      expect(JSON.stringify(cron)).not.toContain('secret-of-the-cron');
      const [{ run_id: runId }] = await untilRuns(cron.cron_id, 1);
      const run = (await ask<{ kwargs: object }>('GET', `/runs/${runId}`)).body;
      expect(run.kwargs).toMatchObject({
        input: { note: 'from the cron' },
        config: { tags: ['nightly'], recursion_limit: 7, configurable: { flavour: 'mint', cron_id: cron.cron_id } },
        stream_mode: ['values', 'updates'],
        subgraphs: true,
        interrupt_after: ['nap'],
        durability: 'sync',
      });
      const delivered = await waitFor('the webhook', () =>
        receiver.received.find((each) => each.path.startsWith(`${path}?`)),
      );
      expect(delivered.path).toBe(`${path}?token=secret-of-the-cron`);
      expect(JSON.parse(delivered.body)).toMatchObject({ status: 'success', values: { note: 'from the cron slept' } });
      const description = JSON.stringify((await schedule(cron.cron_id).describe()).action);
      expect(description).toContain(cron.cron_id);
      expect(description).not.toMatch(/from the cron|secret-of-the-cron/);
    });

    it('count failures, show the last one, and continue', async () => {
      const cron = await create({ assistant_id: named('fail'), schedule: EVERY_SECOND, input: { message: 'no luck' } });
      await untilRuns(cron.cron_id, 2, 'error');
      const failing = await get(cron.cron_id);
      expect(failing.consecutive_failures).toBeGreaterThanOrEqual(2);
      expect(failing.last_failure).toMatchObject({ error: 'TypeError: no luck', run_id: expect.any(String) });
      expect(failing).toMatchObject({ enabled: true, status: 'active' });
    });

    it('run every tick by default, concurrently with earlier ones', async () => {
      const cron = await create({ assistant_id: named('sleep'), schedule: EVERY_SECOND, input: { sleep_ms: 5_000 } });
      await waitFor('two at once', async () => {
        const runs = await runsOf(cron.cron_id);
        return runs.filter(({ status }) => status === 'running').length >= 2;
      });
    });
  });

  describe('on schedule', () => {
    it('keep the threads on request, with the metadata of the cron', async () => {
      const cron = await create({
        schedule: EVERY_SECOND,
        input: {},
        on_run_completed: 'keep',
        metadata: { team: 'k' },
      });
      await untilRuns(cron.cron_id, 2);
      const threads = await client.threads.search({ metadata: { cron_id: cron.cron_id, team: 'k' } });
      expect(threads.length).toBeGreaterThanOrEqual(2);
    });

    it.each([
      ['interrupt_before', ['nap'], { kwargs: { interrupt_before: ['nap'] } }],
      ['interrupt_after', '*', { kwargs: { interrupt_after: '*' } }],
      ['multitask_strategy', 'rollback', { multitask_strategy: 'rollback' }],
      ['metadata', { team: 'p', deep: { a: [1] } }, { metadata: { team: 'p', deep: { a: [1] } } }],
      ['stream_resumable', true, { kwargs: { resumable: true } }],
      ['checkpoint_during', false, { kwargs: { durability: 'exit' } }],
      ['feedback_keys', ['score'], { kwargs: { feedback_keys: ['score'] } }],
      ['on_run_completed', 'keep', { kwargs: { on_completion: 'keep', temporary: false } }],
      ['on_run_completed', 'delete', { kwargs: { on_completion: 'delete', temporary: true } }],
    ])('pass %s through', async (field, value, run) => {
      const cron = await create({ assistant_id: 'sleep', [field]: value, input: { note: 'n' } });
      expect(cron.payload).toMatchObject({ [field]: value });
      const { body } = await ask<CronRun>('POST', `/runs/crons/${cron.cron_id}/trigger`);
      expect((await ask<object>('GET', `/runs/${body.run_id}`)).body).toMatchObject(run);
    });

    it('accept a context, which excludes configurable', async () => {
      const cron = await create({ context: { model: 'small' }, input: {} });
      expect((await ask<CronRun>('POST', `/runs/crons/${cron.cron_id}/trigger`)).status).toBe(200);
      const [{ run_id: runId }] = await untilRuns(cron.cron_id, 1);
      const run = (await ask<{ kwargs: object }>('GET', `/runs/${runId}`)).body;
      expect(run.kwargs).toMatchObject({ context: { model: 'small' } });
    });

    it('stop at their end time and report it', async () => {
      const end = new Date(Date.now() + 8_000).toISOString();
      const cron = await create({ schedule: EVERY_SECOND, input: {}, end_time: end });
      const stopped = await waitFor('the end', async () => {
        const now = await get(cron.cron_id);
        return now.status === 'stopped' && now;
      });
      expect(stopped).toMatchObject({ enabled: false, next_run_date: null, status_reason: 'Its end_time has passed' });
      for (const { scheduled_at } of await runsOf(cron.cron_id)) {
        expect(Date.parse(scheduled_at)).toBeLessThanOrEqual(Date.parse(end));
      }
      expect((await ask('PATCH', `/runs/crons/${cron.cron_id}`, { enabled: true })).status).toBe(422);
      const later = new Date(Date.now() + HOUR).toISOString();
      expect((await ask('PATCH', `/runs/crons/${cron.cron_id}`, { end_time: later })).body).toMatchObject({
        enabled: true,
        status: 'active',
        status_reason: null,
      });
    });
  });

  describe('the overlap rule', () => {
    it('can skip ticks while an earlier run is running, and each skipped one is shown', async () => {
      const sleeping = { assistant_id: 'sleep', input: { sleep_ms: 30_000 } };
      const cron = await create({ ...sleeping, schedule: EVERY_SECOND, overlap: 'skip' });
      const runs = await untilRuns(cron.cron_id, 2, 'skipped');
      expect(runs.filter(({ run_id }) => run_id !== null)).toHaveLength(1);
      expect(runs.find(({ status }) => status === 'skipped')).toMatchObject({
        run_id: null,
        error: "The cron's earlier run was still running",
      });
    });

    it('is the multitask strategy on a thread: what `reject` refuses is a skipped tick', async () => {
      const thread = await newThread();
      await client.runs.create(thread, 'sleep', { input: { sleep_ms: 30_000 } });
      const cron = await create({ schedule: EVERY_SECOND, input: {}, multitask_strategy: 'reject' }, thread);
      const runs = await untilRuns(cron.cron_id, 2, 'skipped');
      expect(runs.find(({ status }) => status === 'skipped')!.error).toMatch(/already running/);
      expect(await get(cron.cron_id)).toMatchObject({ consecutive_failures: 0, enabled: true });
    });
  });

  describe('whose runs can not be created', () => {
    it('fail their tick with the reason when the key of their webhook is lost, and continue', async () => {
      const cron = await create({ input: {}, webhook: receiver.url('/lost-key') });
      await gantry.sql.query(`UPDATE crons SET webhook = 'v1.lost.n.t.c' WHERE cron_id = $1`, [cron.cron_id]);
      expect(await ask('POST', `/runs/crons/${cron.cron_id}/trigger`)).toMatchObject({
        status: 409,
        body: { code: 'cron_webhook_unreadable' },
      });
      await schedule(cron.cron_id).trigger();
      const runs = await untilRuns(cron.cron_id, 2, 'failed');
      expect(runs.map(({ run_id, error }) => [run_id, error])).toEqual(
        Array(2).fill([null, expect.stringMatching(/webhook .*key/)]),
      );
      expect(await get(cron.cron_id)).toMatchObject({ enabled: true, consecutive_failures: 2 });
      await ask('PATCH', `/runs/crons/${cron.cron_id}`, { webhook: receiver.url('/lost-key') });
      expect((await ask('POST', `/runs/crons/${cron.cron_id}/trigger`)).status).toBe(200);
      await untilRuns(cron.cron_id, 1);
    });

    it('do not keep the ticks of others waiting', async () => {
      const crons = [await create(), await create(), await create(), await create({ input: {} })];
      const setStrategy = (cronId: string, strategy: string | null) =>
        gantry.sql.query(
          `UPDATE crons SET payload = payload || jsonb_build_object('multitask_strategy', $2::text) WHERE cron_id = $1`,
          [cronId, strategy],
        );
      // As from a version that had another strategy: no run can be made of it.
      for (const { cron_id } of crons) {
        await setStrategy(cron_id, 'unknown');
        expect((await ask('POST', `/runs/crons/${cron_id}/trigger`)).status).toBe(500);
      }
      const healthy = crons[3].cron_id;
      await setStrategy(healthy, 'enqueue');
      await untilRuns(healthy, 1);
      const pending = await Promise.all(crons.slice(0, 3).map(({ cron_id }) => untilRuns(cron_id, 1, 'pending')));
      expect(pending).toHaveLength(3);
    });
  });

  describe('missed ticks', () => {
    let since: number;
    let byDefault: Cron;
    let catchingUp: Cron;

    /** An outage of the worker that lasts six ticks. */
    beforeAll(async () => {
      await gantry.killWorker('SIGKILL');
      since = Date.now();
      byDefault = await create({ schedule: EVERY_SECOND, input: {} });
      catchingUp = await create({ schedule: EVERY_SECOND, input: {}, catchup: 'all' });
      await new Promise((resolve) => setTimeout(resolve, 6_000));
      await gantry.startWorker();
    });

    it('are one run, of the latest, by default, and one by one with `catchup: all`', async () => {
      await untilRuns(byDefault.cron_id, 3);
      const oldest = (await runsOf(byDefault.cron_id)).at(-1)!;
      expect(oldest.missed_ticks).toBeGreaterThanOrEqual(4);
      expect(Date.parse(oldest.scheduled_at)).toBeGreaterThan(since + 5_000);

      const runs = await untilRuns(catchingUp.cron_id, 6);
      const ticks = runs.map(({ scheduled_at }) => Date.parse(scheduled_at)).sort();
      expect(ticks.map((tick) => (tick - ticks[0]) / 1000)).toEqual(ticks.map((_, index) => index));
      expect(runs.every(({ missed_ticks }) => missed_ticks === 0)).toBe(true);
    });

    it('are run by the sweep when no Schedule woke the cron', async () => {
      const cron = await create({ schedule: '0 * * * *', input: {} });
      await gantry.sql.query(
        `UPDATE crons SET last_tick_at = now() - interval '70 minutes', next_run_at = date_trunc('hour', now()) WHERE cron_id = $1`,
        [cron.cron_id],
      );
      const [run] = await untilRuns(cron.cron_id, 1);
      expect(run).toMatchObject({ trigger: 'schedule' });
      expect(Date.parse(run.scheduled_at) % HOUR).toBe(0);
    });

    it('are run although the end time of the cron has passed meanwhile: then it stops', async () => {
      const cron = await create({ schedule: '0 * * * *', input: {} });
      await gantry.sql.query(
        `UPDATE crons SET last_tick_at = now() - interval '70 minutes', next_run_at = date_trunc('hour', now()),
           end_time = date_trunc('hour', now()) WHERE cron_id = $1`,
        [cron.cron_id],
      );
      const [run] = await untilRuns(cron.cron_id, 1);
      expect(run).toMatchObject({ trigger: 'schedule' });
      expect(Date.parse(run.scheduled_at) % HOUR).toBe(0);
      await waitFor('it to stop', async () => (await get(cron.cron_id)).status === 'stopped');
      expect(await get(cron.cron_id)).toMatchObject({ status_reason: 'Its end_time has passed', next_run_date: null });
    });

    it('are not run with `catchup: skip` when they are a minute late, and are reported', async () => {
      const cron = await create({ schedule: '0 * * * *', catchup: 'skip' });
      // Moves the cron's last tick back, as if the worker had been away for hours.
      await gantry.sql.query(`UPDATE crons SET last_tick_at = now() - interval '3 hours' WHERE cron_id = $1`, [
        cron.cron_id,
      ]);
      const hour = new Date(Math.floor(Date.now() / HOUR) * HOUR);
      await schedule(cron.cron_id).backfill({ start: new Date(hour.getTime() - 1), end: hour, overlap: 'ALLOW_ALL' });
      const [run] = await waitFor('the tick', async () => {
        const runs = await runsOf(cron.cron_id);
        return runs.length > 0 && runs;
      });
      expect(run.missed_ticks).toBe(2);
      if (Date.now() - hour.getTime() > 70_000) {
        expect(run).toMatchObject({ status: 'skipped', run_id: null, error: expect.stringMatching(/^Missed: /) });
      }
    });
  });

  describe('in Temporal', () => {
    it('are a Schedule that people find, and a pause made there applies here', async () => {
      const cron = await create({ schedule: '*/10 * * * *', timezone: 'Europe/Berlin' });
      const handle = schedule(cron.cron_id);
      expect(await handle.describe()).toMatchObject({
        state: { paused: false },
        spec: { timezone: 'Europe/Berlin', calendars: [{ comment: '*/10 * * * *' }] },
        policies: { overlap: 'BUFFER_ONE' },
      });
      await handle.pause('The supplier is down');
      expect(await get(cron.cron_id)).toMatchObject({
        enabled: false,
        status: 'paused',
        status_reason: 'The supplier is down',
        next_run_date: null,
      });
      await handle.unpause();
      expect(await get(cron.cron_id)).toMatchObject({ enabled: true, status: 'active', status_reason: null });
    });

    it('are shown as paused in searches too, without a request for the cron itself', async () => {
      await waitFor(
        'the pause to be seen',
        async () => (await search({ enabled: false })).some(({ cron_id }) => cron_id === pausedElsewhere.cron_id),
        60_000,
      );
    });

    it('show a pause made here, with the reason', async () => {
      const cron = await create({ schedule: '*/10 * * * *' });
      const paused = await ask('POST', `/runs/crons/${cron.cron_id}/pause`, { reason: 'Stocktaking' });
      expect(paused.body).toMatchObject({ enabled: false, status: 'paused', status_reason: 'Stocktaking' });
      expect((await schedule(cron.cron_id).describe()).state).toMatchObject({ paused: true, note: 'Stocktaking' });
      const resumed = await ask('POST', `/runs/crons/${cron.cron_id}/resume`);
      expect(resumed.body).toMatchObject({ enabled: true, status_reason: null });
      expect((await schedule(cron.cron_id).describe()).state).toMatchObject({ paused: false });
    });

    it('can be triggered there, which creates a run here', async () => {
      const cron = await create({ input: {} });
      await schedule(cron.cron_id).trigger();
      const [run] = await untilRuns(cron.cron_id, 1);
      expect(run).toMatchObject({ trigger: 'manual', status: 'success' });
    });

    it('are created again when their Schedule was deleted', async () => {
      const cron = await create({ schedule: '*/10 * * * *' });
      await schedule(cron.cron_id).delete();
      expect(await get(cron.cron_id)).toMatchObject({ enabled: true });
      await waitFor('the Schedule', () => isScheduled(cron.cron_id));
    });

    it('are created again although the Schedules of others fail each time', async () => {
      const failing = [await create(), await create(), await create()];
      const cron = await create({ schedule: '*/10 * * * *' });
      // As a zone that a later version of Node has dropped.
      await gantry.sql.query(
        `UPDATE crons SET enabled = false, next_run_at = NULL, timezone = 'Mars/Base', revision = revision + 1,
           updated_at = now() - interval '2 hours' WHERE cron_id = ANY($1)`,
        [failing.map(({ cron_id }) => cron_id)],
      );
      await schedule(cron.cron_id).delete();
      await gantry.sql.query(
        `UPDATE crons SET synced_revision = 0, updated_at = now() - interval '1 hour' WHERE cron_id = $1`,
        [cron.cron_id],
      );
      await waitFor('the Schedule', () => isScheduled(cron.cron_id), 60_000);
    });

    it('delete their Schedule with the cron', async () => {
      const cron = await create();
      expect((await ask('DELETE', `/runs/crons/${cron.cron_id}`)).status).toBe(204);
      await expect(schedule(cron.cron_id).describe()).rejects.toThrow(/not found/i);
      expect((await ask('DELETE', `/runs/crons/${cron.cron_id}`)).status).toBe(404);
      const { rows } = await gantry.sql.query('SELECT 1 FROM crons WHERE cron_id = $1', [cron.cron_id]);
      expect(rows).toEqual([]);
    });
  });

  /** The Schedule decides when Temporal wakes the cron, our own reading what it then does: they must be the same. */
  it.each<[string, string | null]>([
    ['*/7 3-5 * * *', null],
    ['0 9 * * mon-fri', 'America/New_York'],
    ['30 2 * * *', 'America/New_York'],
    ['30 1 * * *', 'America/New_York'],
    ['15 0,2,3 * 3,10,11 *', 'Europe/Berlin'],
    ['*/15 * 28-31 3,10 sun', 'Europe/London'],
    ['0 0 13 * fri', 'Asia/Kolkata'],
    ['0 0 L * *', 'Pacific/Auckland'],
    ['0 12 * 2,4 5L', 'America/Sao_Paulo'],
    ['0 12 * * L1', null],
    ['0 6 * * tue#2,thu', 'Europe/Berlin'],
    ['0 6 * * wed#5', null],
    ['45 1,2 * 4,10 *', 'Australia/Lord_Howe'],
    ['0 0 29 2 *', null],
    ['0 8 1-7 * mon', 'US/Pacific'],
    ['0 4 * * 7 30', 'Asia/Kathmandu'],
    // Names that Node knows and Temporal doesn't.
    ['0 7 * * *', 'europe/berlin'],
    ['0 7 * * sun', 'IST'],
    // Without Morocco, whose rules changed in 2026: Temporal uses the machine's time zone data, which may be older than
    // Node's.
    ['@weekly', 'Africa/Cairo'],
  ])('the ticks of "%s" in %s are those of its Schedule', async (expression, timezone) => {
    const cron = await create({ schedule: expression, timezone, enabled: false });
    const own = new CronSchedule(expression, timezone, null);
    for (const [from, until] of [
      ['2026-01-01T00:00:00Z', '2026-02-10T00:00:00Z'],
      ['2026-03-05T00:00:00Z', '2026-04-10T00:00:00Z'],
      ['2026-10-01T00:00:00Z', '2026-11-05T00:00:00Z'],
      ['2028-02-25T00:00:00Z', '2028-03-02T00:00:00Z'],
    ]) {
      const [start, end] = [new Date(from), new Date(until)];
      const { startTime } = await gantry.temporal.workflowService.listScheduleMatchingTimes({
        namespace: gantry.temporal.options.namespace,
        scheduleId: `cron-${cron.cron_id}`,
        startTime: { seconds: (start.getTime() / 1000) as never },
        endTime: { seconds: (end.getTime() / 1000) as never },
      });
      const theirs = (startTime ?? []).map(({ seconds }) => new Date(Number(seconds) * 1000).toISOString());
      // The server lists a thousand at most.
      const answered = theirs.length < 1_000 ? end : new Date(theirs[999]);
      const ours = own.between(new Date(start.getTime() - 1), answered, 10_000).map((tick) => tick.toISOString());
      expect(ours).toEqual(expect.arrayContaining(theirs));
      const extra = ours.filter((tick) => !theirs.includes(tick));
      expect(extra.filter((tick) => !isWhereClockGoesBack(tick, timezone))).toEqual([]);
    }
    const [next] = (await schedule(cron.cron_id).describe()).info.nextActionTimes;
    if (next) expect(own.next(new Date())).toEqual(next);
    const enabled = await ask('PATCH', `/runs/crons/${cron.cron_id}`, { enabled: true });
    const described = await schedule(cron.cron_id).describe();
    expect(new Date(enabled.body.next_run_date!)).toEqual(described.info.nextActionTimes[0]);
  });

  describe('by hand', () => {
    it('run now, beside the schedule and also while paused', async () => {
      const cron = await create({ input: {}, enabled: false });
      const { status, body } = await ask<CronRun>('POST', `/runs/crons/${cron.cron_id}/trigger`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ trigger: 'manual', run_id: expect.any(String), thread_id: expect.any(String) });
      await untilRuns(cron.cron_id, 1);
      expect(await get(cron.cron_id)).toMatchObject({ enabled: false, last_run: { run_id: body.run_id } });
    });

    it('backfill a range, each tick once, and once only', async () => {
      const thread = await newThread();
      const cron = await create({ schedule: '0 * * * *', input: {} }, thread);
      const range = { start: '2026-01-05T00:00:00Z', end: '2026-01-05T05:00:00Z' };
      const path = `/runs/crons/${cron.cron_id}/backfill`;
      const first = await ask<{ ticks: number; already_fired: number; runs: CronRun[] }>('POST', path, range);
      expect(first.body).toMatchObject({ ticks: 6, already_fired: 0 });
      const runs = await untilRuns(cron.cron_id, 6);
      expect(runs.map(({ trigger }) => trigger)).toEqual(Array(6).fill('backfill'));
      const onThread = await client.runs.list(thread, { limit: 100 });
      const order = onThread.map(
        (run) =>
          (run as unknown as { kwargs: { config: { configurable: Record<string, string> } } }).kwargs.config
            .configurable.cron_scheduled_at,
      );
      expect(order.reverse()).toEqual([0, 1, 2, 3, 4, 5].map((hour) => `2026-01-05T0${hour}:00:00.000000+00:00`));
      const again = await ask('POST', path, { ...range, end: '2026-01-05T06:00:00' });
      expect(again.body).toMatchObject({ ticks: 7, already_fired: 6, runs: [{ trigger: 'backfill' }] });
    });

    it('refuse a range that is reversed, in the future or too large', async () => {
      const cron = await create({ schedule: EVERY_SECOND, enabled: false });
      const path = `/runs/crons/${cron.cron_id}/backfill`;
      const future = new Date(Date.now() + HOUR).toISOString();
      for (const [start, end] of [
        ['2026-01-02', '2026-01-01'],
        ['2026-01-02', future],
        ['2026-01-02', '2026-01-03'],
        ['2026-01-02', 'tomorrow'],
      ]) {
        const { status, body } = await ask<{ errors: { path: string }[] }>('POST', path, { start, end });
        expect(status).toBe(422);
        expect(body.errors[0].path).toBe('end');
      }
    });
  });

  describe('whose thread or assistant is deleted', () => {
    it('stop with their thread and give the reason', async () => {
      const thread = await newThread();
      const cron = await create({ schedule: EVERY_SECOND, input: {} }, thread);
      await untilRuns(cron.cron_id, 1);
      await client.threads.delete(thread);
      const stopped = await get(cron.cron_id);
      expect(stopped).toMatchObject({
        enabled: false,
        status: 'stopped',
        status_reason: `Thread ${thread} was deleted`,
      });
      const count = (await runsOf(cron.cron_id)).length;
      await waitFor('the Schedule to be paused', async () => (await schedule(cron.cron_id).describe()).state.paused);
      expect(await runsOf(cron.cron_id)).toHaveLength(count);
      for (const [method, path, body] of [
        ['PATCH', '', { enabled: true }],
        ['POST', '/trigger', undefined],
        ['POST', '/backfill', { start: '2026-01-01', end: '2026-01-01' }],
      ] as const) {
        const answer = await ask<{ detail: string }>(method, `/runs/crons/${cron.cron_id}${path}`, body);
        expect(answer.status).toBe(409);
        expect(answer.body.detail).toContain(`Thread ${thread} was deleted`);
      }
    });

    it('stop with their assistant and give the reason', async () => {
      const { assistant_id: assistant } = await client.assistants.create({ graphId: 'three', name: 'brief' });
      const cron = await create({ assistant_id: assistant, schedule: EVERY_SECOND, input: {} });
      await untilRuns(cron.cron_id, 1);
      await client.assistants.delete(assistant);
      expect(await get(cron.cron_id)).toMatchObject({
        enabled: false,
        status: 'stopped',
        status_reason: `Assistant ${assistant} was deleted`,
      });
    });

    it('stop at the next tick when the thread was deleted without notice', async () => {
      const thread = await newThread();
      const cron = await create({ schedule: EVERY_SECOND, input: {} }, thread);
      await gantry.sql.query('DELETE FROM threads WHERE thread_id = $1', [thread]);
      const stopped = await waitFor('the stop', async () => {
        const now = await get(cron.cron_id);
        return now.status === 'stopped' && now;
      });
      expect(stopped).toMatchObject({
        status_reason: `Thread ${thread} was deleted`,
        last_failure: { error: `Thread with ID ${thread} not found` },
      });
    });
  });

  describe('as records', () => {
    it('are found by their fields', async () => {
      const thread = await newThread();
      const one = await create({ metadata: { group: 'found', n: 1 } }, thread);
      const two = await create({ metadata: { group: 'found', n: 2 }, enabled: false, schedule: '0 0 2 1 *' });
      const ids = async (body: object): Promise<string[]> => (await search(body)).map(({ cron_id }) => cron_id);
      const group = { metadata: { group: 'found' } };
      expect(await ids(group)).toEqual([two.cron_id, one.cron_id]);
      expect(await ids({ ...group, sort_order: 'asc' })).toEqual([one.cron_id, two.cron_id]);
      expect(await ids({ ...group, sort_by: 'next_run_date', sort_order: 'asc' })).toEqual([one.cron_id, two.cron_id]);
      expect(await ids({ ...group, thread_id: thread })).toEqual([one.cron_id]);
      expect(await ids({ ...group, enabled: false })).toEqual([two.cron_id]);
      expect(await ids({ ...group, assistant_id: 'three' })).toHaveLength(2);
      expect(await ids({ ...group, assistant_id: one.assistant_id })).toHaveLength(2);
      expect(await ids({ ...group, assistant_id: uuidv7() })).toEqual([]);
      const page = await ask<Cron[]>('POST', '/runs/crons/search', {
        ...group,
        limit: 1,
        select: ['cron_id', 'schedule'],
      });
      expect(page.body).toEqual([{ cron_id: two.cron_id, schedule: '0 0 2 1 *' }]);
      expect(page.headers.get('x-pagination-total')).toBe('2');
      expect(page.headers.get('x-pagination-next')).toBe('1');
      expect((await ask<number>('POST', '/runs/crons/count', group)).body).toBe(2);
      expect((await ask<number>('POST', '/runs/crons/count', { ...group, enabled: true })).body).toBe(1);
    });

    it('are changed field by field; null clears the end time and the time zone', async () => {
      const end = new Date(Date.now() + 400 * 24 * HOUR).toISOString();
      const cron = await create({ end_time: end, timezone: 'Europe/Berlin', input: { a: 1 }, metadata: { a: 1 } });
      const path = `/runs/crons/${cron.cron_id}`;
      expect(Date.parse(cron.end_time!)).toBe(Date.parse(end));
      const patched = await ask('PATCH', path, { schedule: '5 4 * * *', metadata: { b: 2 }, input: { b: 2 } });
      expect(patched.body).toMatchObject({
        schedule: '5 4 * * *',
        timezone: 'Europe/Berlin',
        metadata: { a: 1, b: 2 },
        payload: { schedule: '5 4 * * *', input: { b: 2 }, metadata: { b: 2 } },
      });
      expect(patched.body.next_run_date).not.toBe(cron.next_run_date);
      const lists = { input: { messages: ['a', { role: 'user' }] }, stream_mode: ['values', 'updates'] };
      await ask('PATCH', path, { ...lists, input: { messages: ['before'] } });
      expect((await ask('PATCH', path, lists)).body.payload).toMatchObject(lists);
      // A text in the input, and a masked secret of no item in a value that may have secrets.
      const accounts = [{ password: '***' }];
      expect((await ask('PATCH', path, { input: { accounts } })).body.payload).toMatchObject({ input: { accounts } });
      expect(await ask('PATCH', path, { context: { accounts } })).toMatchObject({
        status: 422,
        body: { errors: [{ path: 'context.accounts.0.password' }] },
      });
      await ask('PATCH', path, { input: { b: 2 } });
      expect((await ask('PATCH', path, { end_time: null, input: null })).body).toMatchObject({
        end_time: null,
        timezone: 'Europe/Berlin',
        payload: { input: { b: 2 } },
      });
      expect((await ask('PATCH', path, { timezone: null })).body).toMatchObject({ timezone: null });
      const { spec } = await schedule(cron.cron_id).describe();
      expect(spec).toMatchObject({ calendars: [{ comment: '5 4 * * *' }] });
      expect(spec.endAt).toBeUndefined();
      expect((await ask('PATCH', path, {})).status).toBe(400);
      expect((await ask('PATCH', path, { assistant_id: 'fail', enabled: true })).body.assistant_id).toBe(
        cron.assistant_id,
      );
    });

    it.each([
      [{ config: { configurable: { model: 'small' } } }, { context: { model: 'large' } }, { config: {} }],
      [{ context: { model: 'small' } }, { config: { configurable: { model: 'large' } } }, { context: {} }],
    ])('with %j are not given %j as well, since each run would be refused', async (has, gets, without) => {
      const cron = await create({ ...has, input: {} });
      const path = `/runs/crons/${cron.cron_id}`;
      expect((await ask('PATCH', path, gets)).status).toBe(400);
      expect((await ask('PATCH', path, { enabled: false })).status).toBe(200);
      expect(await ask('PATCH', path, { ...gets, ...without })).toMatchObject({ status: 200, body: { payload: gets } });
      expect((await ask('POST', `${path}/trigger`)).status).toBe(200);
    });

    it('do not fire for what they missed while they were disabled', async () => {
      const cron = await create({ schedule: EVERY_SECOND, input: {}, enabled: false, catchup: 'all' });
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      expect(await runsOf(cron.cron_id)).toEqual([]);
      const since = Date.now();
      await ask('PATCH', `/runs/crons/${cron.cron_id}`, { enabled: true });
      await untilRuns(cron.cron_id, 2);
      for (const { scheduled_at } of await runsOf(cron.cron_id)) {
        expect(Date.parse(scheduled_at)).toBeGreaterThan(since - 1_000);
      }
    });

    it('are a 404 for every request with another id', async () => {
      const unknown = uuidv7();
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { enabled: true }],
        ['DELETE', '', undefined],
        ['GET', '/runs', undefined],
        ['POST', '/trigger', undefined],
        ['POST', '/pause', {}],
        ['POST', '/resume', undefined],
        ['POST', '/backfill', { start: '2026-01-01', end: '2026-01-02' }],
      ] as const) {
        const answer = await ask<string>(method, `/runs/crons/${unknown}${path}`, body);
        expect([method, path, answer.status, answer.body]).toEqual([method, path, 404, 'Cron not found']);
      }
    });
  });

  it('of a tenant without the entitlement skip their ticks, report it, and cannot be created', async () => {
    const cron = await create({ schedule: EVERY_SECOND, input: {} });
    await untilRuns(cron.cron_id, 1);
    const set = (entitlements: string[]) =>
      gantry.sql.query(`UPDATE tenants SET disabled_entitlements = $1`, [entitlements]);
    await set(['crons']);
    try {
      const runs = await untilRuns(cron.cron_id, 1, 'skipped');
      expect(runs.find(({ status }) => status === 'skipped')).toMatchObject({
        run_id: null,
        error: 'Crons are switched off for this tenant',
      });
      await waitFor('the refusal', async () => {
        const { status } = await ask('POST', '/runs/crons', { assistant_id: 'three', schedule: NEVER_SOON });
        return status === 403;
      });
      expect((await ask('GET', `/runs/crons/${cron.cron_id}`)).status).toBe(200);
      expect((await ask('POST', `/runs/crons/${cron.cron_id}/pause`)).status).toBe(200);
    } finally {
      await set([]);
    }
    await waitFor(
      'the entitlement',
      async () => (await ask('POST', `/runs/crons/${cron.cron_id}/resume`)).status === 200,
    );
  });

  describe('that are wrong', () => {
    const refused: [string, Record<string, unknown>, number, RegExp][] = [
      ['no body', {}, 422, /assistant_id.*schedule/],
      ['an unknown assistant', { assistant_id: 'nobody', schedule: NEVER_SOON }, 404, /nobody/],
      ['an unknown zone', { assistant_id: 'three', schedule: NEVER_SOON, timezone: 'Mars/Base' }, 422, /timezone/],
      ['an empty zone', { assistant_id: 'three', schedule: NEVER_SOON, timezone: '' }, 422, /timezone/],
      [
        'a zone that is in no database',
        { assistant_id: 'three', schedule: NEVER_SOON, timezone: 'SystemV/EST5' },
        422,
        /timezone/,
      ],
      ['an offset as zone', { assistant_id: 'three', schedule: NEVER_SOON, timezone: '+02:00' }, 422, /timezone/],
      ['a date that never comes', { assistant_id: 'three', schedule: '0 0 31 2 *' }, 422, /schedule.*never/],
      ['an end in the past', { assistant_id: 'three', schedule: NEVER_SOON, end_time: '2020-01-01' }, 422, /end_time/],
      ['an end that is not a time', { assistant_id: 'three', schedule: NEVER_SOON, end_time: 'soon' }, 422, /end_time/],
      [
        'an unknown strategy',
        { assistant_id: 'three', schedule: NEVER_SOON, multitask_strategy: 'x' },
        422,
        /multitask/,
      ],
      ['an unknown completion', { assistant_id: 'three', schedule: NEVER_SOON, on_run_completed: 'x' }, 422, /on_run/],
      [
        'a webhook in the inner network',
        { assistant_id: 'three', schedule: NEVER_SOON, webhook: 'http://10.0.0.1/x' },
        422,
        /webhook/,
      ],
      [
        'context beside configurable',
        { assistant_id: 'three', schedule: NEVER_SOON, context: { a: 1 }, config: { configurable: { a: 1 } } },
        400,
        /context/,
      ],
    ];

    it.each(refused)('are refused: %s', async (_, body, status, reason) => {
      const thread = await newThread();
      for (const path of ['/runs/crons', `/threads/${thread}/runs/crons`]) {
        const answer = await ask<unknown>('POST', path, body);
        expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringMatching(reason)]);
      }
    });

    it('report the position of the error in their schedule', async () => {
      for (const [method, path] of [
        ['POST', '/runs/crons'],
        ['PATCH', `/runs/crons/${(await create()).cron_id}`],
      ]) {
        const { status, body } = await ask<{ detail: string; errors: object[] }>(method, path, {
          assistant_id: 'three',
          schedule: '0 9 * * mon-fry',
        });
        expect(status).toBe(422);
        expect(body.detail).toMatch(/^schedule: "mon-fry".*day of week, at position 8$/);
        expect(body.errors).toEqual([{ path: 'schedule', message: expect.any(String), position: 8 }]);
      }
    });

    it('are refused on a thread that does not exist', async () => {
      const body = { assistant_id: 'three', schedule: NEVER_SOON };
      expect((await ask('POST', `/threads/${uuidv7()}/runs/crons`, body)).status).toBe(404);
      expect((await ask('POST', '/threads/nowhere/runs/crons', body)).status).toBe(422);
    });

    it('are refused in a search', async () => {
      for (const body of [{ limit: 0 }, { limit: 1001 }, { sort_by: 'x' }, { select: ['x'] }, { assistant_id: 'x' }]) {
        expect((await ask('POST', '/runs/crons/search', body)).status).toBe(422);
      }
      expect((await ask('POST', '/runs/crons/count', { thread_id: 'x' })).status).toBe(422);
      expect((await ask('GET', '/runs/crons/x')).status).toBe(422);
    });
  });
});
