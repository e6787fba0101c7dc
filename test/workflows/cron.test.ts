import { DataSource } from 'typeorm';
import { temporal } from '@temporalio/proto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { CronActivityProvider } from '../../activities/cron.activities';
import { CronExecutor } from '../../src/crons/cron-executor';
import { CronSchedule } from '../../src/crons/cron-schedule';
import { CronsRepository } from '../../src/crons/crons.repository';
import { RunCreationService } from '../../src/runs/run-creation.service';
import { completedEnding } from '../../src/runs/run-ending';
import { RunListeners } from '../../src/runs/run-listeners';
import { RunLifecycleRepository } from '../../src/runs/run-lifecycle.repository';
import { RunOrchestrator } from '../../src/temporal/run-orchestrator';
import type { FireCronInput } from '../../workflows/contracts/cron.contract';
import { CRONS_QUEUE, RUNS_QUEUE } from '../../workflows/contracts/queues';
import { scheduledStartAttribute, SEARCH_ATTRIBUTES } from '../../workflows/contracts/search-attributes';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { startTimeSkipping, type TimeSkipping } from '../support/time-skipping';
import { waitFor } from '../support/wait-for';
import type { LastingRunActivities, scheduleWorkflow } from '../support/workflows/cron-weeks';

const { INDEXED_VALUE_TYPE_DATETIME, INDEXED_VALUE_TYPE_KEYWORD } = temporal.api.enums.v1.IndexedValueType;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

interface CronRun {
  run_id: string | null;
  status: string;
  trigger: string;
  scheduled_at: string;
  error: string | null;
  missed_ticks: number;
}

interface Cron {
  cron_id: string;
  schedule: string;
  timezone: string | null;
  end_time: string | null;
}

/**
 * Crons over weeks, on a clock that skips: their real rows, rules and workflow, with an api of their own. The Schedule and the
 * runs' graphs are stood in for.
 */
describe('the workflow of a cron, over weeks', () => {
  let environment: TestWorkflowEnvironment;
  let workflowBundle: WorkflowBundleWithSourceMap;
  let stop: TimeSkipping['stop'] | undefined;
  let api: TestApi;
  let tenantId: string;
  let activities: CronActivityProvider;
  let lasting: LastingRunActivities;
  /** While the database is away no wake-up gets through. */
  let awayUntil = 0;
  /** Until then each run that is to be created fails with an error of the server. */
  let noRunsUntil = 0;

  beforeAll(async () => {
    ({ environment, workflowBundle, stop } = await startTimeSkipping(
      require.resolve('../support/workflows/cron-weeks'),
    ));
    await environment.connection.operatorService.addSearchAttributes({
      namespace: environment.namespace ?? 'default',
      searchAttributes: {
        ...Object.fromEntries(SEARCH_ATTRIBUTES.map(({ name }) => [name, INDEXED_VALUE_TYPE_KEYWORD])),
        [scheduledStartAttribute.name]: INDEXED_VALUE_TYPE_DATETIME,
      },
    });
    api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS, TEMPORAL_ADDRESS: environment.address });
    tenantId = api.config.auth.defaultTenantId;
    const now = async (): Promise<Date> => new Date(await environment.currentTimeMs());
    jest.spyOn(api.app.get(CronsRepository, { strict: false }), 'now').mockImplementation(now);
    const creation = api.app.get(RunCreationService, { strict: false });
    const createCronRun = creation.createCronRun.bind(creation);
    jest.spyOn(creation, 'createCronRun').mockImplementation(async (run) => {
      if ((await environment.currentTimeMs()) < noRunsUntil) throw new Error('No run can be created');
      return createCronRun(run);
    });
    activities = new CronActivityProvider(api.app.get(CronExecutor, { strict: false }));
    const lifecycle = new RunLifecycleRepository(api.app.get(DataSource), api.app.get(RunListeners, { strict: false }));
    lasting = {
      beginRun: async (runId) => {
        const held = await lifecycle.beginRun(runId, 'test', 'test');
        if (held.state !== 'held') return undefined;
        return Number((held.run.kwargs.input as { hours: number }).hours) * HOUR;
      },
      finishRun: async (runId) => {
        const ended = await lifecycle.endRun(runId, undefined, completedEnding('success', undefined));
        if (ended && ended !== 'rollback-requested' && ended.next)
          await api.app.get(RunOrchestrator, { strict: false }).startRun(ended.next);
      },
    };
  });

  afterAll(async () => {
    await api?.close();
    await stop?.();
  });

  async function ask<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(api.url + path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    expect([path, response.status, response.status === 200 ? '' : text]).toEqual([path, 200, '']);
    return JSON.parse(text) as T;
  }

  const create = (body: object, thread?: string): Promise<Cron> =>
    ask<Cron>('POST', thread ? `/threads/${thread}/runs/crons` : '/runs/crons', {
      assistant_id: 'three',
      input: { hours: 0.1 },
      ...body,
    });

  /** Outcomes of the ticks, oldest first. */
  const runsOf = async ({ cron_id }: Cron): Promise<CronRun[]> =>
    (await ask<CronRun[]>('GET', `/runs/crons/${cron_id}/runs?limit=1000`)).reverse();

  const timesOf = (runs: CronRun[]): number[] => runs.map(({ scheduled_at }) => Date.parse(scheduled_at));

  const scheduleOf = ({ schedule, timezone, end_time }: Cron): CronSchedule =>
    new CronSchedule(schedule, timezone, end_time === null ? null : new Date(end_time));

  /** Lets this much time pass on a clock that jumps to the next event; resolves to the ticks in it. */
  async function pass(cron: Cron, ms: number): Promise<number[]> {
    const start = await environment.currentTimeMs();
    const ticks = scheduleOf(cron).between(new Date(start), new Date(start + ms), Infinity);
    const { nativeConnection: connection } = environment;
    const fireCron = async (input: FireCronInput) => {
      if ((await environment.currentTimeMs()) < awayUntil) throw new Error('The database is away');
      return activities.activities().fireCron(input);
    };
    const crons = await Worker.create({ connection, taskQueue: CRONS_QUEUE, workflowBundle, activities: { fireCron } });
    const runs = await Worker.create({
      connection,
      taskQueue: RUNS_QUEUE,
      workflowBundle,
      activities: { ...lasting },
    });
    await runs.runUntil(
      crons.runUntil(async () => {
        await environment.client.workflow.execute<typeof scheduleWorkflow>('scheduleWorkflow', {
          workflowId: `schedule-${cron.cron_id}-${start}`,
          taskQueue: CRONS_QUEUE,
          args: [
            {
              cron: { cronId: cron.cron_id, tenantId, revision: 1 },
              ticks: ticks.map((tick) => tick.toISOString()),
            },
          ],
        });
        // The runs of the last ticks may begin after the Schedule has ended, and the clock jumps only while it is waited for.
        await waitFor('the end of all runs', async () => {
          await environment.sleep(DAY);
          return (await runsOf(cron)).every(({ status }) => !['pending', 'running'].includes(status));
        });
      }),
    );
    return ticks.map((tick) => tick.getTime());
  }

  it('runs each working day of three weeks once, at its hour, in its time zone', async () => {
    const cron = await create({ schedule: '0 9 * * mon-fri', timezone: 'Europe/Berlin' });
    const ticks = await pass(cron, 21 * DAY);
    expect(ticks).toHaveLength(15);
    const runs = await runsOf(cron);
    expect(timesOf(runs)).toEqual(ticks);
    expect(runs.map(({ status }) => status)).toEqual(Array(15).fill('success'));
    expect(new Set(runs.map(({ run_id }) => run_id)).size).toBe(15);
    const hours = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' });
    expect(new Set(ticks.map((tick) => hours.format(tick)))).toEqual(new Set(['09:00']));
  });

  describe('after an outage', () => {
    const outage = async (body: object): Promise<{ runs: CronRun[]; missed: number[]; later: number[] }> => {
      const cron = await create({ schedule: '*/10 * * * *', ...body });
      const start = await environment.currentTimeMs();
      // Starts before the first tick.
      awayUntil = start + 65 * MINUTE;
      const ticks = await pass(cron, 2 * HOUR);
      const missed = ticks.filter((tick) => tick <= awayUntil);
      const later = ticks.filter((tick) => tick > awayUntil);
      expect([missed.length >= 6, later.length >= 5]).toEqual([true, true]);
      return { runs: await runsOf(cron), missed, later };
    };

    it('runs the latest of the missed ticks once, and reports how many there were', async () => {
      const { runs, missed, later } = await outage({});
      expect(timesOf(runs)).toEqual([missed.at(-1), ...later]);
      expect(runs.map(({ missed_ticks }) => missed_ticks)).toEqual([missed.length - 1, ...later.map(() => 0)]);
      expect(runs.every(({ status }) => status === 'success')).toBe(true);
    });

    it('runs each of them with `catchup: all`, in order', async () => {
      const { runs, missed, later } = await outage({ catchup: 'all' });
      expect(timesOf(runs)).toEqual([...missed, ...later]);
      expect(runs.every(({ status, missed_ticks }) => status === 'success' && missed_ticks === 0)).toBe(true);
    });

    it('runs none of them with `catchup: skip`, and reports so', async () => {
      const { runs, missed, later } = await outage({ catchup: 'skip' });
      expect(timesOf(runs)).toEqual([missed.at(-1), ...later]);
      expect(runs[0]).toMatchObject({ status: 'skipped', run_id: null, missed_ticks: missed.length - 1 });
      expect(runs[0].error).toMatch(/^Missed: \d+ s late/);
      expect(runs.slice(1).every(({ status }) => status === 'success')).toBe(true);
    });
  });

  describe('while its runs can not be created', () => {
    const failing = async (body: object): Promise<{ runs: CronRun[]; ticks: number[]; missed: number[] }> => {
      const cron = await create({ schedule: '*/10 * * * *', ...body });
      // Between two ticks, so that the next attempt comes before the later one.
      const step = 10 * MINUTE;
      noRunsUntil = Math.ceil((await environment.currentTimeMs()) / step) * step + 65 * MINUTE;
      const ticks = await pass(cron, 2 * HOUR);
      return { runs: await runsOf(cron), ticks, missed: ticks.filter((tick) => tick <= noRunsUntil) };
    };

    it('keeps one tick waiting, and then catches up with the latest', async () => {
      const { runs, ticks, missed } = await failing({});
      const later = ticks.slice(missed.length);
      expect(timesOf(runs)).toEqual([missed[0], missed.at(-1), ...later]);
      expect(runs.map(({ missed_ticks }) => missed_ticks)).toEqual([0, missed.length - 2, ...later.map(() => 0)]);
      expect(runs.every(({ status }) => status === 'success')).toBe(true);
    });

    it('keeps one tick waiting, and then runs each with `catchup: all`', async () => {
      const { runs, ticks } = await failing({ catchup: 'all' });
      expect(timesOf(runs)).toEqual(ticks);
    });

    it('keeps one tick waiting, and then skips the others with `catchup: skip`', async () => {
      const { runs, ticks, missed } = await failing({ catchup: 'skip' });
      expect(timesOf(runs)).toEqual([missed[0], missed.at(-1), ...ticks.slice(missed.length)]);
      expect(runs[1]).toMatchObject({ status: 'skipped', missed_ticks: missed.length - 2 });
    });
  });

  it('runs its ticks concurrently with runs of thirty hours, or skips those that fall into one', async () => {
    const daily = { schedule: '0 6 * * *', input: { hours: 30 } };
    const beside = await create(daily);
    const every = await pass(beside, 14 * DAY);
    expect(timesOf(await runsOf(beside))).toEqual(every);
    expect((await runsOf(beside)).map(({ status }) => status)).toEqual(Array(14).fill('success'));

    const skipping = await create({ ...daily, overlap: 'skip' });
    const ticks = await pass(skipping, 14 * DAY);
    const runs = await runsOf(skipping);
    expect(timesOf(runs)).toEqual(ticks);
    expect(runs.map(({ status }) => status)).toEqual(ticks.map((_, day) => (day % 2 ? 'skipped' : 'success')));
    expect(runs[1]).toMatchObject({ run_id: null, error: "The cron's earlier run was still running" });
  });

  it('queues its ticks on a thread, one after the other', async () => {
    const { thread_id } = await ask<{ thread_id: string }>('POST', '/threads', {});
    const cron = await create({ schedule: '0 6 * * *', input: { hours: 30 } }, thread_id);
    const ticks = await pass(cron, 7 * DAY);
    const runs = await runsOf(cron);
    expect(timesOf(runs)).toEqual(ticks);
    expect(runs.map(({ status }) => status)).toEqual(Array(7).fill('success'));
  });

  it('runs nothing after its end time, even when what was due before is late', async () => {
    const start = await environment.currentTimeMs();
    const end = new Date(start + 10 * DAY).toISOString();
    const punctual = await create({ schedule: '0 */12 * * *', end_time: end });
    const ticks = await pass(punctual, 14 * DAY);
    expect(ticks).toHaveLength(20);
    expect(timesOf(await runsOf(punctual))).toEqual(ticks);

    const late = await create({
      schedule: '*/30 * * * *',
      end_time: new Date((await environment.currentTimeMs()) + 2 * HOUR).toISOString(),
    });
    awayUntil = (await environment.currentTimeMs()) + 3 * HOUR;
    const missed = await pass(late, 4 * HOUR);
    expect(missed).toHaveLength(4);
    const runs = await runsOf(late);
    expect(timesOf(runs)).toEqual([missed.at(-1)]);
    expect(runs[0]).toMatchObject({ status: 'success', missed_ticks: 3 });
  });
});
