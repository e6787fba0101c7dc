import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { amount } from '../support/amount';
import { type Gantry, startGantry } from '../support/gantry';
import { temporalAddress } from '../support/temporal';
import { waitFor } from '../support/wait-for';

const EVERY_SECOND = { assistant_id: 'three', schedule: '* * * * * *', input: {} };

interface Tick {
  fire_id: string;
  scheduled_at: Date;
  status: string;
  run_id: string;
  exists: boolean;
}

const ticksOf = async (gantry: Gantry): Promise<Tick[]> =>
  (
    await gantry.sql.query<Tick>(
      `SELECT f.*, EXISTS (SELECT 1 FROM runs r WHERE r.run_id = f.run_id) AS exists FROM cron_fires f ORDER BY scheduled_at`,
    )
  ).rows;

async function ask(gantry: Gantry, method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(gantry.url + path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
}

/** Checks that every tick has one run, unless it is pending, and every run a tick. */
async function expectOneRunEach(gantry: Gantry): Promise<void> {
  const ticks = await ticksOf(gantry);
  const times = ticks.map(({ scheduled_at }) => scheduled_at.getTime());
  expect(new Set(times).size).toBe(times.length);
  for (const { status, exists } of ticks) if (status !== 'pending') expect(exists).toBe(true);
  const runs = await gantry.sql.query<{ run_id: string; at: string }>(
    `SELECT run_id, kwargs->'config'->'configurable'->>'cron_scheduled_at' AS at FROM runs WHERE metadata ? 'cron_id'`,
  );
  expect(new Set(runs.rows.map(({ at }) => at)).size).toBe(runs.rows.length);
  const known = new Set(ticks.map(({ run_id }) => run_id));
  for (const { run_id } of runs.rows) expect(known.has(run_id)).toBe(true);
}

/** The row is the intent: lost work is repaired from it. */
describe('SIGKILL of the api between a cron and its Schedule', () => {
  let blackHole: Server;
  const sockets = new Set<Socket>();
  let gantry: Gantry;

  beforeAll(async () => {
    // The api's Temporal takes connections and says nothing: its call is under way when the api dies.
    blackHole = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => blackHole.listen(0, '127.0.0.1', resolve));
    const { port } = blackHole.address() as AddressInfo;
    gantry = await startGantry({
      sweepSeconds: 1,
      env: { TEMPORAL_ADDRESS: `127.0.0.1:${port}` },
      workers: 0,
      graphProcesses: 1,
    });
  });

  afterAll(async () => {
    await gantry?.stop();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => blackHole.close(resolve));
  });

  it('loses no cron that is stored, and no deleted cron fires', async () => {
    const rows = async (): Promise<{ cron_id: string; synced_revision: number; deleted_at: Date | null }[]> =>
      (await gantry.sql.query('SELECT * FROM crons')).rows as never;
    const created = ask(gantry, 'POST', '/runs/crons', EVERY_SECOND).catch(() => undefined);
    const [cron] = await waitFor('the row', async () => {
      const found = await rows();
      return found.length > 0 && found;
    });
    expect(cron.synced_revision).toBe(0);
    await gantry.killApi('SIGKILL');
    await created;
    await gantry.startWorker({ TEMPORAL_ADDRESS: temporalAddress() });
    await waitFor('a tick', async () => (await ticksOf(gantry)).some(({ status }) => status === 'success'), 60_000);
    await expectOneRunEach(gantry);

    await gantry.startApi();
    const deleted = ask(gantry, 'DELETE', `/runs/crons/${cron.cron_id}`).catch(() => undefined);
    await waitFor('the deletion', async () => (await rows()).every(({ deleted_at }) => deleted_at !== null));
    await gantry.killApi('SIGKILL');
    await deleted;
    const handle = gantry.temporal.schedule.getHandle(`cron-${cron.cron_id}`);
    await waitFor('the end of the Schedule', async () => {
      const gone = await handle.describe().then(
        () => false,
        () => true,
      );
      return gone && (await rows()).length === 0;
    });
    const runs = async (): Promise<string> =>
      (await gantry.sql.query<{ count: string }>('SELECT count(*) FROM runs')).rows[0].count;
    const before = await runs();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await runs()).toBe(before);
  });
});

describe('SIGKILL of the worker during a tick', () => {
  let gantry: Gantry;

  beforeAll(async () => {
    gantry = await startGantry({ sweepSeconds: 1, graphProcesses: 1 });
  });

  afterAll(() => gantry?.stop());

  it('creates one run of the tick, by the worker that comes next', async () => {
    const blocker = await gantry.sql.connect();
    await blocker.query('BEGIN');
    // No run can be inserted: the tick is recorded, and its run is pending.
    await blocker.query('LOCK TABLE runs IN SHARE ROW EXCLUSIVE MODE');
    await ask(gantry, 'POST', '/runs/crons', EVERY_SECOND);
    const [tick] = await waitFor('the tick', async () => {
      const found = await ticksOf(gantry);
      return found.length > 0 && found;
    });
    expect(tick).toMatchObject({ status: 'pending', exists: false });
    await gantry.killWorker('SIGKILL');
    await blocker.query('COMMIT');
    blocker.release();
    expect((await ticksOf(gantry)).every(({ exists }) => !exists)).toBe(true);
    await gantry.startWorker();
    const created = await waitFor(
      'the run of the tick',
      async () =>
        (await ticksOf(gantry)).find(({ fire_id, status }) => fire_id === tick.fire_id && status === 'success'),
      60_000,
    );
    expect(created.run_id).toBe(tick.run_id);
    await expectOneRunEach(gantry);
  });

  it('at any moment, repeatedly, never creates two', async () => {
    for (const afterMs of amount([700], [300, 700, 1_100])) {
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await gantry.killWorker('SIGKILL');
      await gantry.startWorker();
    }
    const since = (await ticksOf(gantry)).length;
    await waitFor('ticks after the last kill', async () => (await ticksOf(gantry)).length > since + 2, 60_000);
    await expectOneRunEach(gantry);
  });
});
