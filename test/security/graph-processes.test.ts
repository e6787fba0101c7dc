import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { type Gantry, startGantry } from '../support/gantry';
import { graphProcessesOf } from '../support/gantry-process';
import { TenantCaller } from '../support/two-tenants';
import { waitFor } from '../support/wait-for';

const ADMIN_KEY = 'the-admin-key-0123456789';
const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'hostile.json');

/** SQLSTATEs of row-level security, and of a token that opens nothing. */
const [DENIED, REFUSED] = ['42501', 'GT001'];

const MiB = 1024 * 1024;
/**
 * Maximum bytes that may wait for the log, in several forms (as text, as a message and as a statement), with what the worker leaves
 * uncollected meanwhile: its peak before is that of a start, which is small.
 */
const BOUND = 192 * MiB;
/** Events of 8 kB in the log that show a flood; what was sent meanwhile is much more than the bound. */
const EVENTS = 1_000;

/** Peak memory of a process, in bytes. */
const peakOf = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;

type Tries = Record<string, Record<string, number | string>>;

describe('hostile code in a graph process', () => {
  let gantry: Gantry;
  let attacker: TenantCaller;
  let victim: TenantCaller;

  const clientOf = ({ key }: TenantCaller): Client => gantry.client({ apiKey: key });

  beforeAll(async () => {
    gantry = await startGantry({
      graphs: GRAPHS,
      env: {
        GANTRY_AUTH: 'on',
        GANTRY_ADMIN_KEY: ADMIN_KEY,
        // One process for all runs.
        GANTRY_GRAPH_THREADS_MAX: '1',
        GANTRY_GRAPH_VALUE_LIMIT_BYTES: String(16 * MiB),
        GANTRY_RUN_LOST_ATTEMPTS: '1',
      },
    });
    attacker = await TenantCaller.create(gantry.url, ADMIN_KEY);
    victim = await TenantCaller.create(gantry.url, ADMIN_KEY);
  });

  afterAll(() => gantry?.stop());

  it('reaches no state and no item of a tenant without a run in it, although it has the login and older tokens', async () => {
    const { thread_id: thread } = await clientOf(victim).threads.create();
    await clientOf(victim).runs.wait(thread, 'victim', { input: { secret: 'of the victim' } });
    await clientOf(attacker).store.putItem(['own'], 'one', { own: true });

    const { tries } = (await clientOf(attacker).runs.wait(null, 'hostile', {
      input: { victim: victim.tenantId },
    })) as { tries: Tries };
    const nothing = { states: 0, items: 0, written: DENIED, stored: DENIED, changed: 0 };
    const refused = { states: REFUSED, items: REFUSED, written: REFUSED, stored: REFUSED, changed: REFUSED };
    expect(tries).toEqual({
      'the setting alone': nothing,
      'its own token': nothing,
      'its own token for the victim': refused,
      'its own token without a run': refused,
      'a signature of its own': refused,
      'a token that has no signature': refused,
      "the token of a victim's run that has ended": refused,
      'its own tenant': { states: expect.any(Number), items: 1, written: 1, stored: 1, changed: 1 },
    });
    expect(tries['its own tenant'].states).toBeGreaterThan(0);
    expect(await clientOf(victim).threads.getState(thread)).toMatchObject({ values: { secret: 'of the victim' } });
    expect(await clientOf(victim).store.getItem(['secrets'], 'one')).toMatchObject({
      value: { secret: 'of the victim' },
    });
  });

  describe('that floods the channel of its process', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gantry-flood-'));
    afterAll(() => rmSync(folder, { recursive: true }));

    const eventsOf = async (run: string): Promise<number> =>
      Number(
        (
          await gantry.sql.query<{ count: number }>('SELECT max(seq) + 1 AS count FROM run_events WHERE run_id = $1', [
            run,
          ])
        ).rows[0].count,
      );

    it.each(['events', 'small'])(
      'with %s delays only itself: no memory of the worker, no run of another process',
      async (kind) => {
        const { pid } = gantry.worker;
        const client = clientOf(attacker);
        await clientOf(victim).runs.wait(null, 'victim', { input: {} });
        const before = peakOf(pid);
        const until = join(folder, kind);
        const { thread_id: thread } = await client.threads.create();
        const { run_id: run } = await client.runs.create(thread, 'flood', { input: { until, kind } });
        const ran = async () => (await client.runs.get(thread, run)).status;
        // A run that is accepted before the flood begins shares its process, and waits for its end.
        await waitFor('the flood to begin', () => existsSync(`${until}.begun`));
        // The flood lasts until the file is there: runs of others begin and end meanwhile.
        for (let others = 0; others < 3; others += 1) {
          const other = await clientOf(victim).threads.create();
          const { run_id: id } = await clientOf(victim).runs.create(other.thread_id, 'victim', { input: {} });
          const ended = async () => (await clientOf(victim).runs.get(other.thread_id, id)).status === 'success';
          await waitFor('the run of another tenant', ended);
        }
        if (kind === 'events') await waitFor('a flood in the log', async () => (await eventsOf(run)) > EVENTS);
        expect(await ran()).toBe('running');
        writeFileSync(until, '');
        await waitFor('the end of the flood', async () => (await ran()) === 'success');
        expect(peakOf(pid) - before).toBeLessThan(BOUND);
      },
      180_000,
    );

    it('with many objects in a few bytes is ended, and uses no memory of the worker', async () => {
      const before = peakOf(gantry.worker.pid);
      const client = clientOf(attacker);
      const { thread_id: thread } = await client.threads.create();
      const { run_id: run } = await client.runs.create(thread, 'flood', { input: { kind: 'objects' } });
      await waitFor('the end of the run', async () => (await client.runs.get(thread, run)).status === 'error', 60_000);
      expect(gantry.logs(10_000)).toContain('more than 500000 values');
      expect(peakOf(gantry.worker.pid) - before).toBeLessThan(BOUND);
      await clientOf(victim).runs.wait(null, 'victim', { input: {} });
    });

    it.each(['event', 'state'])(
      'with one %s that is too large ends its run, with the name of the setting',
      async (kind) => {
        const client = clientOf(attacker);
        const { thread_id: thread } = await client.threads.create();
        const { run_id: run } = await client.runs.create(thread, 'flood', { input: { kind }, streamMode: ['custom'] });
        await waitFor('the end of the run', async () => (await client.runs.get(thread, run)).status === 'error');
        const { rows } = await gantry.sql.query('SELECT attempt, error FROM runs WHERE run_id = $1', [run]);
        expect(rows).toEqual([
          {
            attempt: 1,
            error: {
              error: 'MessageTooLarge',
              message: expect.stringMatching(
                /takes \d+ bytes .* 16777216 are sent \(GANTRY_GRAPH_VALUE_LIMIT_BYTES\)/,
              ) as unknown,
            },
          },
        ]);
        if (kind === 'state')
          await expect(client.threads.getState(thread)).rejects.toThrow('GANTRY_GRAPH_VALUE_LIMIT_BYTES');
      },
    );

    it('through the writer of its stream delays only itself, and everything arrives', async () => {
      const before = peakOf(gantry.worker.pid);
      const client = clientOf(attacker);
      const { thread_id: thread } = await client.threads.create();
      const { run_id: run } = await client.runs.create(thread, 'flood', {
        input: { kind: 'writer' },
        streamMode: ['custom'],
      });
      await client.runs.join(thread, run);
      expect(await eventsOf(run)).toBeGreaterThanOrEqual(10_000);
      expect(peakOf(gantry.worker.pid) - before).toBeLessThan(BOUND);
    });
  });
});

describe('graph processes that serve one tenant each', () => {
  const MAX = 2;
  let gantry: Gantry;
  let tenants: TenantCaller[];

  beforeAll(async () => {
    gantry = await startGantry({
      graphs: GRAPHS,
      env: {
        GANTRY_AUTH: 'on',
        GANTRY_ADMIN_KEY: ADMIN_KEY,
        GANTRY_GRAPH_HOSTS: 'per-tenant',
        GANTRY_GRAPH_THREADS_MAX: String(MAX),
      },
    });
    // One more than the maximum number of processes.
    tenants = await Promise.all(Array.from({ length: MAX + 1 }, () => TenantCaller.create(gantry.url, ADMIN_KEY)));
  });

  afterAll(() => gantry?.stop());

  it('share neither process nor memory, and replace each other when all are in use', async () => {
    const runs = [...tenants, ...tenants];
    const seen = await Promise.all(
      runs.map(async ({ key, marker }) => {
        const client = gantry.client({ apiKey: key });
        const { thread_id: thread } = await client.threads.create();
        const state = await client.runs.wait(thread, 'remember', { input: { secret: marker } });
        return { marker, thread, ...(state as { pid: number; remembered: string[] }) };
      }),
    );
    // Its graph is asked in a process of the api.
    for (const [at, { thread, marker }] of seen.slice(0, tenants.length).entries()) {
      const client = gantry.client({ apiKey: tenants[at].key });
      expect(await client.threads.getState(thread)).toMatchObject({ values: { secret: marker } });
    }
    for (const { marker, remembered } of seen) expect(new Set(remembered)).toEqual(new Set([marker]));
    const owners = new Map<number, Set<string>>();
    for (const { pid, marker } of seen) owners.set(pid, (owners.get(pid) ?? new Set()).add(marker));
    expect([...owners.values()].map(({ size }) => size)).toEqual([...owners.keys()].map(() => 1));
    expect(owners.size).toBeGreaterThan(MAX);
    // One that got no processor for a moment counts as blocked and lets another one start; the surplus goes within a minute.
    await waitFor('no more processes than allowed', () => graphProcessesOf(gantry.worker.pid).length <= MAX, 90_000);
  });

  it('keep a tenant waiting while the runs of others occupy all of them, until one ends', async () => {
    const [waiting, ...busy] = tenants.map(({ key }) => gantry.client({ apiKey: key }));
    const folder = mkdtempSync(join(tmpdir(), 'gantry-busy-'));
    const until = join(folder, 'end');
    const held = await Promise.all(
      busy.map(async (client) => {
        const { thread_id: thread } = await client.threads.create();
        const { run_id: run } = await client.runs.create(thread, 'hold', { input: { until } });
        await waitFor('the run to hold its process', async () => {
          const { values } = await client.threads.getState(thread);
          return (values as { pid?: number }).pid;
        });
        return () => client.runs.join(thread, run);
      }),
    );
    const cancelled = await waiting.threads.create();
    const { run_id: gone } = await waiting.runs.create(cancelled.thread_id, 'remember', { input: {} });
    const { thread_id: thread } = await waiting.threads.create();
    const { run_id: run } = await waiting.runs.create(thread, 'remember', { input: { secret: 'late' } });
    const statusOf = async (id: string, of: string): Promise<string> => (await waiting.runs.get(id, of)).status;
    await waitFor('both to wait', async () => {
      return (await statusOf(thread, run)) === 'running' && (await statusOf(cancelled.thread_id, gone)) === 'running';
    });
    await waiting.runs.cancel(cancelled.thread_id, gone, true);
    expect(await statusOf(cancelled.thread_id, gone)).toBe('interrupted');
    // With one process more than the maximum, no run has to wait.
    if (graphProcessesOf(gantry.worker.pid).length <= MAX) expect(await statusOf(thread, run)).toBe('running');
    writeFileSync(until, '');
    for (const end of held) await end();
    expect(await waiting.runs.join(thread, run)).toMatchObject({ remembered: ['late'] });
    rmSync(folder, { recursive: true });
  });
});
