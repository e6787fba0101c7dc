// How long a batch of 260 runs of one tenant delays another tenant's single run: both in turns on one server, with and without.
//   npm run build && node test/bench/fairness.mjs
import { setTimeout as sleep } from 'node:timers/promises';
import { withGantry } from './gantry.mjs';
import { ms, percentile } from './measure.mjs';
import { ONE_NODE } from './runs.mjs';

const BATCH = 260;
const ROUNDS = 3;
/** Single runs in each round, one after the other. */
const SINGLES = 4;
const PROCESS_START_MS = 5_000;
/** Runs of ten nodes that mostly wait, and runs that keep the processors busy. */
const BATCHES = { 'nodes of a second': 1_000, 'nodes without a pause': 0 };

const median = (/** @type {number[]} */ values) => percentile(values, 0.5);

await withGantry(
  async ({ api, admin_key: adminKey }) => {
    /** @param {string} key @param {string} path @param {unknown} [body] */
    async function post(key, path, body = {}) {
      const headers = { 'content-type': 'application/json', 'x-api-key': key };
      const response = await fetch(api + path, { method: 'POST', headers, body: JSON.stringify(body) });
      if (!response.ok) throw new Error(`${response.status} from ${path}: ${await response.text()}`);
      return response.status === 204 ? undefined : response.json();
    }
    /** @param {string} name @returns {Promise<string>} a key of a new tenant */
    async function createTenant(name) {
      const { tenant_id } = await post(adminKey, '/admin/tenants', { name });
      return (await post(adminKey, '/admin/keys', { tenant_id, name })).key;
    }
    const [one, other] = [await createTenant('one'), await createTenant('other')];

    async function single() {
      const began = performance.now();
      await post(one, '/runs/wait', ONE_NODE);
      return performance.now() - began;
    }

    async function singles() {
      const waits = [];
      for (let count = 0; count < SINGLES; count += 1) waits.push(await single());
      return waits;
    }

    /** @returns {Promise<number>} runs of the other tenant in flight */
    const countOfOther = async () =>
      (await post(other, '/runs/search', { status: ['pending', 'running'], limit: 1000 })).length;

    // Work of a second tenant starts the process for tenants with little work.
    await singles();
    await post(other, '/runs/wait', ONE_NODE);
    await sleep(PROCESS_START_MS);
    for (const [what, stepMs] of Object.entries(BATCHES)) {
      const run = { assistant_id: 'pipeline', input: { step_ms: stepMs } };
      /** @type {{ alone: number[], beside: number[] }} */
      const waits = { alone: [], beside: [] };
      const delays = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const alone = await singles();
        await post(other, '/runs/batch', Array(BATCH).fill(run));
        const beside = await singles();
        if ((await countOfOther()) === 0) throw new Error('The batch ended before the single runs');
        await post(other, '/runs/cancel', { status: 'all' });
        while ((await countOfOther()) > 0) await sleep(100);
        waits.alone.push(...alone);
        waits.beside.push(...beside);
        delays.push(median(beside) - median(alone));
      }
      console.log(
        `a batch of ${BATCH} runs, ${what}: a single run of another tenant waits ${ms(median(waits.alone))} alone, ` +
          `${ms(median(waits.beside))} beside it (at most ${ms(Math.max(...waits.beside))}), ratio ` +
          `${(median(waits.beside) / median(waits.alone)).toFixed(2)}; delay ${ms(median(delays))} ` +
          `(${ms(Math.min(...delays))} to ${ms(Math.max(...delays))} by round)`,
      );
    }
  },
  { env: { GANTRY_AUTH: 'on', GANTRY_TRACING: 'off' } },
);
