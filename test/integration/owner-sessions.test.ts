import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Logger } from '@nestjs/common';
import { Client, Pool } from 'pg';
import { connectionNameOf } from '../../src/database/process-id';
import { OwnerSession } from '../../src/runs/owner-session';
import { identityOf } from '../../src/runs/process-identity';
import { runsHeldQueue } from '../../workflows/contracts/queues';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { waitFor } from '../support/wait-for';

const MINUTES_MS = 600_000;

/** Detection of lost workers: each owner here stands for one process. */
describe('the sessions of owners of runs', () => {
  let database: TestDatabase;
  let sql: Pool;
  let owners: OwnerSession[];
  /** `<observer> <lost owner>`, in the order in which they were judged. */
  let lost: string[];

  beforeAll(async () => {
    // The observer's reports of lost owners are the subject of these tests.
    Logger.overrideLogger(false);
    database = await createTestDatabase();
    sql = new Pool({ connectionString: database.url, max: 2 });
  });

  afterAll(async () => {
    await sql?.end();
    await database?.drop();
  });

  beforeEach(() => {
    owners = [];
    lost = [];
  });

  afterEach(async () => {
    await Promise.all(owners.map((owner) => owner.stop()));
    await sql.query('DELETE FROM run_owners');
  });

  const onLostBy =
    (observer: string) =>
    (owner: string): Promise<void> => {
      lost.push(`${observer} ${owner}`);
      return Promise.resolve();
    };

  async function start(
    name: string,
    { absenceMs = 1_000, silenceMs = MINUTES_MS, onLost = onLostBy(name) } = {},
  ): Promise<OwnerSession> {
    const owner = new OwnerSession({
      databaseUrl: database.url,
      taskQueue: name,
      startsWorkflows: true,
      absenceMs,
      absenceAfterOutageMs: MINUTES_MS,
      silenceMs,
      onLost,
    });
    owner.start();
    owners.push(owner);
    await waitFor(`the session of ${name}`, async () => (await sessionOf(name)) !== undefined);
    return owner;
  }

  /** Server process of the owner's session. */
  async function sessionOf(name: string): Promise<number | undefined> {
    const { rows } = await sql.query<{ pid: number }>(
      `SELECT l.pid FROM run_owners JOIN pg_locks l ON l.locktype = 'advisory' AND l.objid = owner_id::oid AND l.objsubid = 2
       WHERE task_queue = $1 AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [name],
    );
    return rows[0]?.pid;
  }

  /** An owner whose process was killed: its row is there, and no session. */
  const leave = (
    name: string,
    serverStartedAt = 'pg_postmaster_start_time()',
    identity: string | null = null,
  ): Promise<unknown> =>
    sql.query(`INSERT INTO run_owners (task_queue, server_started_at, process) VALUES ($1, ${serverStartedAt}, $2)`, [
      name,
      identity,
    ]);

  const isKnown = async (name: string): Promise<boolean> =>
    (await sql.query('SELECT FROM run_owners WHERE task_queue = $1', [name])).rowCount === 1;

  it('are declared lost by one of the other owners, once', async () => {
    await Promise.all([start('a'), start('b'), start('c')]);
    await leave('gone');
    await waitFor('it to be forgotten', async () => !(await isKnown('gone')));
    expect(lost).toEqual([expect.stringMatching(/^[abc] gone$/)]);
  });

  it('are not declared lost when they are disconnected and reconnect', async () => {
    await start('cut', { absenceMs: MINUTES_MS });
    await start('observer', { absenceMs: 8_000 });
    const before = await sessionOf('cut');
    await sql.query('SELECT pg_terminate_backend($1)', [before]);
    await waitFor('its new session', async () => ![undefined, before].includes(await sessionOf('cut')));
    // Judged after `cut` came back, by an observer that saw both.
    await leave('gone');
    await waitFor('the other one to be given up', async () => !(await isKnown('gone')));
    expect(lost).toEqual(['observer gone']);
  });

  it('are not declared lost after a restart of the server together with those that ended alone', async () => {
    await start('observer');
    await leave('restarted', `pg_postmaster_start_time() - interval '1 minute'`);
    await leave('gone');
    await waitFor('the one that ended alone', async () => !(await isKnown('gone')));
    expect(lost).toEqual(['observer gone']);
    expect(await isKnown('restarted')).toBe(true);
  });

  it('are not declared lost when they were absent after an observer’s outage, unlike those that end later', async () => {
    await start('observer', { absenceMs: 2_000 });
    const before = await sessionOf('observer');
    // Absent for less than it takes to be judged when the observer's session ends as well.
    await leave('cut');
    await sql.query('SELECT pg_terminate_backend($1)', [before]);
    await waitFor('its new session', async () => ![undefined, before].includes(await sessionOf('observer')));
    await waitFor('a look at the other one', async () => {
      // One that has ended: another one in progress may still see the row that comes next.
      const { rowCount } = await sql.query(
        `SELECT FROM pg_stat_activity WHERE pid = $1 AND state = 'idle' AND query LIKE '%NOT EXISTS%'`,
        [await sessionOf('observer')],
      );
      return rowCount === 1;
    });
    await leave('gone');
    await waitFor('the one that ended later', async () => !(await isKnown('gone')));
    expect(lost).toEqual(['observer gone']);
    expect(await isKnown('cut')).toBe(true);
  });

  describe('whose process is on the same machine', () => {
    let child: ChildProcess;
    let identity: string | null;

    beforeEach(async () => {
      child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 60_000)'], { stdio: 'ignore' });
      await once(child, 'spawn');
      identity = identityOf(child.pid ?? 0);
      expect(identity).not.toBeNull();
    });

    afterEach(() => child.kill('SIGKILL'));

    async function end(): Promise<void> {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }

    it.each(['pg_postmaster_start_time()', `pg_postmaster_start_time() - interval '1 minute'`])(
      'are declared lost when it has ended, without a wait (server started at %s)',
      async (serverStartedAt) => {
        await start('observer', { absenceMs: MINUTES_MS });
        await leave('gone', serverStartedAt, identity);
        await end();
        await waitFor('it to be forgotten', async () => !(await isKnown('gone')));
        expect(lost).toEqual(['observer gone']);
      },
    );

    it('are declared lost without a wait where its id belongs to a later process, but not while it lives or can’t be seen', async () => {
      const [boot, namespace, , startedAt] = identity?.split(' ') ?? [];
      await start('observer', { absenceMs: 5_000 });
      await leave('living', undefined, identity);
      await leave('elsewhere', undefined, `${boot} pid:[1] ${child.pid} 1`);
      await leave('reused', undefined, `${boot} ${namespace} ${child.pid} ${Number(startedAt) - 1}`);
      await waitFor('all to be forgotten', async () => !(await isKnown('living')) && !(await isKnown('elsewhere')));
      expect(lost[0]).toBe('observer reused');
      expect(lost.slice(1).sort()).toEqual(['observer elsewhere', 'observer living']);
    });

    it('are declared lost again after the wait when their runs could not be handed over', async () => {
      await end();
      const times: number[] = [];
      await start('broken', {
        absenceMs: 1_500,
        onLost: () => {
          times.push(performance.now());
          return Promise.reject(new Error('Temporal is away'));
        },
      });
      await leave('gone', undefined, identity);
      await waitFor('two failures', () => Promise.resolve(times.length >= 2));
      expect(times[1] - times[0]).toBeGreaterThanOrEqual(1_500);
    });
  });

  it('are declared lost again by the next observer when their runs could not be handed over', async () => {
    let failures = 0;
    await start('broken', {
      onLost: () => {
        failures += 1;
        return Promise.reject(new Error('Temporal is away'));
      },
    });
    await leave('gone');
    await waitFor('two failures', () => Promise.resolve(failures >= 2));
    expect(await isKnown('gone')).toBe(true);
    await start('repaired');
    await waitFor('it to be forgotten', async () => !(await isKnown('gone')));
    expect(lost).toEqual(['repaired gone']);
  });

  it('have a row again when their owner lives although it was declared lost', async () => {
    const handingOver = Promise.withResolvers<void>();
    await start('observer', {
      onLost: async () => {
        await handingOver.promise;
        await onLostBy('observer')('late');
      },
    });
    await leave('late');
    await waitFor('the lock of the one that gives it up', async () => (await sessionOf('late')) !== undefined);
    const observer = await sessionOf('late');
    await start('late');
    handingOver.resolve();
    await waitFor('its own session', async () => ![undefined, observer].includes(await sessionOf('late')));
    expect(lost).toEqual(['observer late']);
  });

  it('are ended when their owner is silent, whose runs are then lost, but not while it hands runs over', async () => {
    const handingOver = Promise.withResolvers<void>();
    await start('busy', {
      silenceMs: 6_000,
      onLost: async () => {
        await onLostBy('busy')('gone');
        await handingOver.promise;
      },
    });
    await leave('gone');
    await waitFor('the handover', () => Promise.resolve(lost.includes('busy gone')));
    try {
      const busy = await sessionOf('busy');
      // A frozen process: it has a session and does nothing in it.
      const frozen = new Client({ connectionString: database.url });
      const ended = new Promise((resolve) => frozen.once('end', resolve));
      frozen.on('error', () => undefined);
      await frozen.connect();
      await leave('frozen');
      await frozen.query(
        `SELECT pg_advisory_lock(l.classid::int, o.owner_id) FROM run_owners o, pg_locks l
         WHERE o.task_queue = 'frozen' AND l.locktype = 'advisory' AND l.pid = $1 AND l.objsubid = 2 LIMIT 1`,
        [busy],
      );
      await start('observer', { silenceMs: 6_000 });
      await ended;
      await waitFor('the frozen one to be forgotten', async () => !(await isKnown('frozen')));
      expect(lost).toEqual(['busy gone', 'observer frozen']);
      expect(await sessionOf('busy')).toBe(busy);
    } finally {
      handingOver.resolve();
    }
    await waitFor('the other one to be forgotten', async () => !(await isKnown('gone')));
  });

  it('are lost together with the connections of their owner, whose locks its runs would wait for', async () => {
    const pooled = new Client({ connectionString: database.url, application_name: connectionNameOf('frozen') });
    const ended = new Promise((resolve) => pooled.once('end', resolve));
    pooled.on('error', () => undefined);
    await pooled.connect();
    await pooled.query('BEGIN; LOCK TABLE threads');
    await leave(runsHeldQueue('frozen'));
    await start('observer', {
      onLost: async () => {
        await sql.query('SELECT FROM threads');
      },
    });
    await ended;
    await waitFor('it to be forgotten', async () => !(await isKnown(runsHeldQueue('frozen'))));
  });

  it('leave nothing when their owner stops', async () => {
    const owner = await start('stopped');
    await owner.stop();
    expect(await isKnown('stopped')).toBe(false);
  });
});
