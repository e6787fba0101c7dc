// When the first results of runs come that begin at the same time, on a server with nothing else to do: each of their nodes waits, as for
// a model, so that the processors are idle for a part of the time.
//   npm run build && node test/bench/burst.mjs [RUNS] [ROUNDS] [CHECKOUT…]
// A CHECKOUT is another built working copy, measured in turns with this one.
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../../scripts/services/paths.mjs';
import { withBuilds } from './gantry.mjs';
import { load, percentile } from './measure.mjs';
import { ONE_NODE, timeToFirstEvent, wait } from './runs.mjs';

const [runs = '64', rounds = '3', ...others] = process.argv.slice(2);
const WARM_UP = 400;
const BODY = { assistant_id: 'pipeline', input: { step_ms: 200 }, stream_mode: 'updates' };
/** Time after a round in which its runs end, and the server rests. */
const REST_MS = 3_000;

/** @param {import('./gantry.mjs').Server[]} servers */
async function measureAll(servers) {
  for (const { api } of servers) await load(WARM_UP, 16, () => wait(api, ONE_NODE));
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const { name, api } of servers) {
      const firsts = await Promise.all(Array.from({ length: Number(runs) }, () => timeToFirstEvent(api, BODY)));
      const [p50, last] = [percentile(firsts, 0.5), Math.max(...firsts)].map((ms) => ms.toFixed(0));
      console.log(`${name}: ${runs} first results, p50 ${p50} ms, last ${last} ms`);
      await sleep(REST_MS);
    }
  }
}

await withBuilds([ROOT, ...others], { GANTRY_TRACING: 'off' }, measureAll);
