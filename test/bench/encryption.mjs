// What the encryption of langgraph.json costs a run, by processor time of all of Gantry's processes and by waiting.
//   npm run build && GANTRY_PYTHON=.venv/bin/python node test/bench/encryption.mjs 40
// Two servers in turns, one with it and one without; GANTRY_PYTHON has langgraph-sdk.
import { join } from 'node:path';
import { ROOT } from '../../scripts/services/paths.mjs';
import { withGantry } from './gantry.mjs';
import { load, ms, percentile, processorSecondsBelow } from './measure.mjs';
import { ONE_NODE, wait } from './runs.mjs';

const RUNS = Number(process.argv[2] ?? 40);
const ROUNDS = 5;
const AT_ONCE = 4;
const TOKENS = { assistant_id: 'tokens', input: { messages: [{ role: 'user', content: 'talk' }] } };
const BODIES = {
  'one node': ONE_NODE,
  'ten nodes': { assistant_id: 'pipeline', input: { step_ms: 0 } },
  '200 tokens': TOKENS,
};
const env = { GANTRY_TRACING: 'off' };
const encrypted = { ...env, GANTRY_CONFIG: join(ROOT, 'test', 'bench', 'graphs', 'encrypted.json') };

/** @param {number} pid */
const secondsOf = (pid) =>
  processorSecondsBelow(pid, (command) => (command.includes('encryption_process') ? 'encryption' : 'rest'));

/** @param {string} api @param {number} pid @param {object} body */
async function round(api, pid, body) {
  const before = secondsOf(pid);
  const { p50 } = await load(RUNS, AT_ONCE, () => wait(api, body));
  const after = secondsOf(pid);
  const spent = (/** @type {string} */ name) => (((after[name] ?? 0) - (before[name] ?? 0)) * 1000) / RUNS;
  return { p50, own: spent('encryption'), all: spent('encryption') + spent('rest') };
}

const median = (/** @type {number[]} */ values) => percentile(values, 0.5);

await withGantry(
  (plain, plainPid) =>
    withGantry(
      async (sealed, sealedPid) => {
        for (const [what, body] of Object.entries(BODIES)) {
          for (const { api } of [plain, sealed]) await load(RUNS, AT_ONCE, () => wait(api, body));
          /** @type {Awaited<ReturnType<typeof round>>[][]} */
          const rounds = [[], []];
          for (let count = 0; count < ROUNDS; count += 1) {
            rounds[0].push(await round(plain.api, plainPid, body));
            rounds[1].push(await round(sealed.api, sealedPid, body));
          }
          const [without, with_] = rounds.map((each) => ({
            all: median(each.map(({ all }) => all)),
            own: median(each.map(({ own }) => own)),
            p50: median(each.map(({ p50 }) => p50)),
          }));
          const ratios = rounds[1].map(({ all }, index) => all / rounds[0][index].all);
          console.log(
            `${what}: ${ms(without.all)} → ${ms(with_.all)} of processor time a run (of it ${ms(with_.own)} the handlers' processes), ` +
              `ratio ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}); ` +
              `wait p50 ${ms(without.p50)} → ${ms(with_.p50)}`,
          );
        }
      },
      { env: encrypted },
    ),
  { env },
);
