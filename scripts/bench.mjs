// npm run bench: one table of figures, made by one run against a Gantry of its own on free ports.
//   npm run bench            the full table
//   npm run bench -- --quick a tenth of it
//   npm run bench -- --only runs   (or sleepers, store, export) a part of it
import './services/runtime.mjs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { withGantry } from '../test/bench/gantry.mjs';

/** @param {string} what @param {string} figure */
const row = (what, figure) => console.log(`| ${what.padEnd(46)} | ${figure.padEnd(44)} |`);

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } } });
const isWanted = (/** @type {string} */ part) => values.only === undefined || values.only === part;
await withGantry(async (endpoints) => {
  // Loaded here, since these modules need the dependencies that the start above has installed.
  const { benchRuns, benchSleepers } = await import('../test/bench/runs.mjs');
  const { benchStore } = await import('../test/bench/store.mjs');
  const { benchExport } = await import('../test/bench/exports.mjs');
  const { peakMemoryMb } = await import('../test/bench/measure.mjs');
  console.log(`\n${cpus().length} cores, Node ${process.version}, everything on this machine, Postgres with fsync\n`);
  row('what', 'figure');
  row('-'.repeat(46), '-'.repeat(44));
  const scale = values.quick ? 0.1 : 1;
  if (isWanted('runs')) {
    for await (const [what, figure] of benchRuns(endpoints.api, scale)) row(what, figure);
  }
  if (isWanted('sleepers')) {
    for await (const [what, figure] of benchSleepers(endpoints.api, endpoints.postgres, scale)) row(what, figure);
  }
  if (isWanted('store')) {
    for await (const [what, figure] of benchStore(endpoints.api, scale)) row(what, figure);
  }
  if (isWanted('export')) {
    for await (const [what, figure] of benchExport(endpoints, values.quick ? 5_000 : 100_000)) row(what, figure);
  }
  const { api, worker } = endpoints.pids;
  row('peak memory', `api ${peakMemoryMb(api)} MB, worker ${peakMemoryMb(worker)} MB`);
});
