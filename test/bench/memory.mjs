// Whether the memory of a worker and an api stays flat: runs of one node, one after the other on sixteen connections.
//   npm run build && node test/bench/memory.mjs 100000
import { load, memoryMb } from './measure.mjs';
import { withGantry } from './gantry.mjs';
import { ONE_NODE, wait } from './runs.mjs';

const RUNS = Number(process.argv[2] ?? 10_000);
const SAMPLES = 20;
const CONCURRENCY = 16;

/** @param {string} api */
async function run(api) {
  const state = await wait(api, ONE_NODE);
  if (state.turn !== 1) throw new Error(`A run ended elsewhere: ${JSON.stringify(state)}`);
}

await withGantry(async ({ api, pids }) => {
  const each = Math.round(RUNS / SAMPLES);
  process.stdout.write('| runs | runs/s | worker, MB | api, MB |\n| --- | --- | --- | --- |\n');
  for (let runs = each; runs <= RUNS; runs += each) {
    const { perSecond } = await load(each, CONCURRENCY, () => run(api));
    const [worker, server] = [memoryMb(pids.worker), memoryMb(pids.api)];
    process.stdout.write(`| ${runs} | ${perSecond.toFixed(1)} | ${worker} | ${server} |\n`);
  }
});
