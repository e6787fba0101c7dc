// Memory of a whole Gantry: at rest, after each twentieth of the runs (of one node, at a concurrency of sixteen), and at rest again.
//   npm run build && node test/bench/memory.mjs 100000
import { setTimeout as sleep } from 'node:timers/promises';
import { load, memoryBelow } from './measure.mjs';
import { partOf, withGantry } from './gantry.mjs';
import { ONE_NODE, wait } from './runs.mjs';

const RUNS = Number(process.argv[2] ?? 10_000);
const SAMPLES = 20;
const CONCURRENCY = 16;
/** By then idle graph processes and connections have ended. */
const REST_MS = 120_000;
const PARTS = ['api', 'worker', 'graph process', 'temporal', 'postgres', 'other'];

/** @param {string} api */
async function run(api) {
  const state = await wait(api, ONE_NODE);
  if (state.turn !== 1) throw new Error(`A run ended elsewhere: ${JSON.stringify(state)}`);
}

await withGantry(async ({ api }, pid) => {
  /** @param {string} when @param {string} perSecond */
  const print = (when, perSecond) => {
    const memory = memoryBelow(pid, partOf);
    const all = Object.values(memory).reduce((sum, each) => sum + each, 0);
    const parts = PARTS.map((part) => (memory[part] ?? 0).toFixed(0));
    process.stdout.write(`| ${[when, perSecond, all.toFixed(0), ...parts].join(' | ')} |\n`);
  };
  process.stdout.write(`| runs | runs/s | all, MB | ${PARTS.join(' | ')} |\n|${' --- |'.repeat(3 + PARTS.length)}\n`);
  await sleep(REST_MS);
  print('at rest', '');
  const each = Math.round(RUNS / SAMPLES);
  for (let runs = each; runs <= RUNS; runs += each) {
    const { perSecond } = await load(each, CONCURRENCY, () => run(api));
    print(String(runs), perSecond.toFixed(1));
  }
  await sleep(REST_MS);
  print('at rest', '');
});
