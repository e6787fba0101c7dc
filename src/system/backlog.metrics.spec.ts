import { loadConfig } from '../config/config';
import { Metrics } from '../metrics/metrics';
import type { RunOrchestrator } from '../temporal/run-orchestrator';
import { BacklogMetrics } from './backlog.metrics';
import type { Backlog, BacklogRepository } from './backlog.repository';

const BACKLOG: Backlog = {
  runs: { pending: 3, scheduled: 0, running: 0 },
  queue: { maxAge: 0, medianAge: 0, unblockedMaxAge: 0 },
  webhooks: { pending: 0, overdue: 0 },
  crons: { overdue: 0 },
  exports: { Created: 0, IntervalScheduled: 0, Running: 0 },
};

/** A database that answers when the test says so. */
class SlowDatabase {
  readonly answers: (() => void)[] = [];

  readBacklog(): Promise<Backlog> {
    return new Promise((resolve) => this.answers.push(() => resolve(BACKLOG)));
  }
}

describe('BacklogMetrics', () => {
  const config = loadConfig({
    DATABASE_URL: 'postgres://localhost/gantry',
    TEMPORAL_ADDRESS: 'localhost:7233',
    GANTRY_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
  });
  let database: SlowDatabase;
  let metrics: Metrics;

  beforeEach(() => {
    jest.useFakeTimers();
    database = new SlowDatabase();
    metrics = new Metrics(config);
    const runs = { countWorkers: () => Promise.resolve(1) } as unknown as RunOrchestrator;
    new BacklogMetrics(metrics, database as unknown as BacklogRepository, runs);
  });
  afterEach(() => jest.useRealTimers());

  it('answers that the database is away while a read is open, and begins no other', async () => {
    for (let scrape = 0; scrape < 3; scrape += 1) {
      const exposed = metrics.expose();
      await jest.advanceTimersByTimeAsync(5_000);
      const { text } = await exposed;
      expect(text).toMatch(/^gantry_backlog_up 0$/m);
      expect(text).not.toMatch(/^gantry_runs\{/m);
      await jest.advanceTimersByTimeAsync(6_000);
    }
    expect(database.answers).toHaveLength(1);

    database.answers[0]();
    await jest.advanceTimersByTimeAsync(0);
    const exposed = metrics.expose();
    expect(database.answers).toHaveLength(2);
    database.answers[1]();
    const { text } = await exposed;
    expect(text).toMatch(/^gantry_backlog_up 1$/m);
    expect(text).toMatch(/^gantry_runs\{status="pending"\} 3$/m);
  });

  it('reads once in five seconds, also when the clock is set back', async () => {
    const expose = async (): Promise<number> => {
      const exposed = metrics.expose();
      for (const answer of database.answers) answer();
      expect((await exposed).text).toMatch(/^gantry_backlog_up 1$/m);
      return database.answers.length;
    };
    expect(await expose()).toBe(1);
    expect(await expose()).toBe(1);
    await jest.advanceTimersByTimeAsync(6_000);
    jest.setSystemTime(0);
    expect(await expose()).toBe(2);
  });
});
