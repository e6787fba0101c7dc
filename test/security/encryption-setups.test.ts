import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { describeDeltaThreads } from '../support/delta-threads';
import { type Gantry, startGantry } from '../support/gantry';
import { pythonForGraphs } from '../support/python';
import { tablesWith } from '../support/table-contents';
import { TenantCaller } from '../support/two-tenants';
import { waitFor } from '../support/wait-for';

const PROJECT = join(__dirname, '..', 'support', 'encryption');
const ADMIN_KEY = 'the-admin-key-0123456789';
const GRAPHS = ['typescript', 'python'] as const;

interface State {
  note?: string;
  seen: string[];
}

const secret = (): string => `canary-${randomBytes(12).toString('hex')}`;

/** The tenant in the contexts with which what a thread has was encrypted, in every table that has something of it. */
async function tenantsOf({ sql }: Gantry, threadId: string): Promise<Record<string, (string | null)[]>> {
  const { rows } = await sql.query<{ place: string; tenants: (string | null)[] }>(
    `SELECT place, array_agg(DISTINCT tenant) AS tenants FROM (
       SELECT 'thread' AS place, metadata #>> '{__encryption_context__,tenant}' AS tenant FROM threads WHERE thread_id = $1
       UNION ALL
       SELECT 'run', kwargs #>> '{input,__encryption_context__,tenant}' FROM runs WHERE thread_id = $1
       UNION ALL
       SELECT 'events', substring(encode(decode(split_part(data, ':', 2), 'base64'), 'escape') FROM '"tenant":"([^"]*)"')
       FROM run_events JOIN runs USING (run_id) WHERE thread_id = $1 AND data LIKE 'gantry-encrypted:%'
       UNION ALL
       SELECT 'values', substring(encode(blob, 'escape') FROM '"tenant":"([^"]*)"')
       FROM langgraph.checkpoint_blobs WHERE thread_id LIKE '%' || $1 AND position('gantry-encrypted'::bytea IN blob) > 0
       UNION ALL
       SELECT 'writes', substring(encode(blob, 'escape') FROM '"tenant":"([^"]*)"')
       FROM langgraph.checkpoint_writes WHERE thread_id LIKE '%' || $1 AND position('gantry-encrypted'::bytea IN blob) > 0
     ) AS found GROUP BY place`,
    [threadId],
  );
  return Object.fromEntries(rows.map(({ place, tenants }) => [place, tenants]));
}

const everywhere = (tenant: string): Record<string, string[]> =>
  Object.fromEntries(['thread', 'run', 'events', 'values', 'writes'].map((place) => [place, [tenant]]));

/** The custom encryption beside what else a deployment may have. */
describe('custom encryption', () => {
  let gantry: Gantry;
  const start = async (config: string, env: Record<string, string> = {}, workers = 1): Promise<void> => {
    gantry = await startGantry({
      graphs: join(PROJECT, config),
      workers,
      env: { GANTRY_PYTHON: pythonForGraphs(), ...env },
    });
  };
  const stop = (): Promise<void> => gantry?.stop();

  describe('with users of a custom auth', () => {
    const canaries: string[] = [];
    beforeAll(() => start('users.json'), 300_000);
    afterAll(stop);

    const clientOf = (name: string): Client => gantry.client({ headers: { authorization: `Bearer ${name}` } });

    it.each(GRAPHS)('encrypts what a user of a graph in %s stores by the context of this user', async (graph) => {
      for (const name of ['alice', 'bob']) {
        const [note, about] = [secret(), secret()];
        canaries.push(note, about);
        const client = clientOf(name);
        const { thread_id } = await client.threads.create({ metadata: { about, graph } });
        const input = { note, mode: 'none' };
        expect(await client.runs.wait(thread_id, graph, { input })).toMatchObject({ note, seen: [note] });
        expect(await tenantsOf(gantry, thread_id)).toEqual(everywhere(name));
        const found = await client.threads.search({ metadata: { owner: name } });
        expect(found.find((each) => each.thread_id === thread_id)?.metadata).toMatchObject({ about, owner: name });
        const other = clientOf(name === 'alice' ? 'bob' : 'alice');
        await expect(other.threads.getState(thread_id)).rejects.toThrow('404');
      }
    });

    it('encrypts the runs of a cron by the context of its owner, and items by that of who puts them', async () => {
      const [note, text] = [secret(), secret()];
      canaries.push(note, text);
      const client = clientOf('alice');
      const { thread_id } = await client.threads.create();
      const cron = await client.crons.createForThread(thread_id, 'typescript', {
        schedule: '0 0 1 1 *',
        input: { note, mode: 'none' },
      });
      const { cron_id } = cron as unknown as { cron_id: string };
      const fired = await fetch(`${gantry.url}/runs/crons/${cron_id}/trigger`, {
        method: 'POST',
        headers: { authorization: 'Bearer alice' },
      });
      expect(fired.status).toBe(200);
      await waitFor('the run of the cron', async () => {
        const { values } = await client.threads.getState<State>(thread_id);
        return values.seen?.includes(note);
      });
      expect(await tenantsOf(gantry, thread_id)).toEqual(everywhere('alice'));
      await client.store.putItem(['mine'], 'item', { text });
      expect((await client.store.getItem(['mine'], 'item'))?.value).toEqual({ text });
      const { rows } = await gantry.sql.query<{ tenant: string }>(
        `SELECT value #>> '{__encryption_context__,tenant}' AS tenant FROM langgraph.store WHERE key = 'item'`,
      );
      expect(rows).toEqual([{ tenant: 'alice' }]);
    });

    it('leaves nothing of it to be read in a table', async () => {
      expect(canaries).toHaveLength(10);
      expect(await tablesWith(gantry.sql, canaries)).toEqual([]);
    });
  });

  describe('with a process for each tenant, on two workers', () => {
    const canaries: string[] = [];
    const tenants: TenantCaller[] = [];
    beforeAll(async () => {
      const env = { GANTRY_AUTH: 'on', GANTRY_ADMIN_KEY: ADMIN_KEY, GANTRY_GRAPH_HOSTS: 'per-tenant' };
      await start('langgraph.json', env, 2);
      for (let index = 0; index < 2; index += 1) tenants.push(await TenantCaller.create(gantry.url, ADMIN_KEY));
    }, 300_000);
    afterAll(stop);

    const attemptsOf = async (threads: string[]): Promise<number[]> => {
      const { rows } = await gantry.sql.query<{ attempt: number }>(
        'SELECT attempt FROM runs WHERE thread_id = ANY ($1)',
        [threads],
      );
      return rows.map(({ attempt }) => attempt);
    };

    it('continues the runs of killed workers, and leaves nothing to be read in a table', async () => {
      const runs = await Promise.all(
        tenants.flatMap(({ key, tenantId }) =>
          GRAPHS.map(async (graph) => {
            const client = gantry.client({ apiKey: key });
            const note = secret();
            canaries.push(note);
            const { thread_id: thread } = await client.threads.create({ metadata: { note } });
            const { run_id: run } = await client.runs.create(thread, graph, {
              input: { note, mode: 'slow' },
              streamMode: ['values', 'messages'],
            });
            return { client, tenantId, note, thread, run };
          }),
        ),
      );
      for (const { client, note, thread } of runs) {
        await waitFor('the first node', async () => {
          const { values, next } = await client.threads.getState<State>(thread);
          return next[0] === 'ask' && values.seen[0] === note;
        });
      }
      const workers = [...gantry.workers];
      await Promise.all(workers.map((worker) => gantry.killWorker('SIGKILL', worker)));
      // The state that the kill has left.
      expect(await tablesWith(gantry.sql, canaries)).toEqual([]);
      await gantry.startWorker();
      for (const { client, tenantId, note, thread, run } of runs) {
        expect(await client.runs.join(thread, run)).toMatchObject({ note, seen: [note] });
        const events: string[] = [];
        for await (const event of client.runs.joinStream(thread, run)) events.push(JSON.stringify(event));
        expect(events.join('\n')).toContain(`about ${note}`);
        expect(await tenantsOf(gantry, thread)).toEqual(everywhere(tenantId));
      }
      expect(await attemptsOf(runs.map(({ thread }) => thread))).toEqual([2, 2, 2, 2]);
      expect(canaries).toHaveLength(4);
      expect(await tablesWith(gantry.sql, canaries)).toEqual([]);
    }, 300_000);
  });

  describe('of threads whose values are in the writes of earlier checkpoints', () => {
    beforeAll(() => start('delta.json'), 300_000);
    afterAll(stop);

    describe.each(GRAPHS)('in %s', (graph) => {
      describeDeltaThreads(
        () => gantry,
        (threads) => {
          it('has their values, and leaves nothing to be read in a table', async () => {
            const note = secret();
            const threadId = await threads.ranTwice();
            await gantry.client().runs.wait(threadId, graph, { input: threads.say(note, { left: 1 }) });
            const { values } = await threads.stateOf(threadId);
            expect(values.often).toContain(note);
            expect(values.rarely).toContain(note);
            expect(await tablesWith(gantry.sql, [note])).toEqual([]);
          });
        },
        graph,
      );
    });
  });
});
