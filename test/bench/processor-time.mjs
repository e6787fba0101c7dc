// Processor time of a run by process, beside the same graph by LangGraph alone in one process: a wait for one node on a thread
// (`waits`), and streams of 200 tokens. Wall clocks of a shared machine say how busy it was, processor time what the work costs:
// each round measures every build in turn.
//   npm run build && node test/bench/processor-time.mjs [ROUNDS] [RUNS] [CHECKOUT…]
// A CHECKOUT is another built working copy, to compare with. BENCH_CASES names the cases, separated by commas.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from '../../scripts/services/paths.mjs';
import { partOf, withBuilds } from './gantry.mjs';
import { load, percentile, processorSecondsBelow } from './measure.mjs';
import { post } from './post.mjs';
import { ONE_NODE, wait } from './runs.mjs';

const TOKENS = 200;
const CONCURRENCY = Number(process.env.BENCH_CONCURRENCY ?? 16);
/** Number of warm-up runs of each kind before the first round. */
const WARM_UP = Number(process.env.BENCH_WARM_UP ?? 200);
const INPUT = { messages: [{ role: 'user', content: 'talk' }] };
const [rounds = '3', runs = '96', ...others] = process.argv.slice(2);
const builds = [ROOT, ...others];

/** @param {string} text @param {RegExp} frame @param {number} least */
function expectFrames(text, frame, least) {
  const count = text.match(frame)?.length ?? 0;
  if (count < least) throw new Error(`A stream of ${count} frames: ${text.slice(-500)}`);
}

/** @param {string[]} modes */
const streamOf = (modes) => async (/** @type {string} */ api) => {
  const response = await post(`${api}/runs/stream`, { assistant_id: 'tokens', input: INPUT, stream_mode: modes });
  expectFrames(await response.text(), /^event: messages/gm, TOKENS);
};

/** A run started by a command, its messages read from the stream of its thread. @param {string} api */
async function eventProtocol(api) {
  const { thread_id: thread } = await (await post(`${api}/threads`, {})).json();
  const gone = new AbortController();
  const channels = ['messages', 'lifecycle'];
  const stream = await post(`${api}/threads/${thread}/stream/events`, { channels }, gone.signal);
  const params = { assistant_id: 'tokens', input: INPUT };
  await (await post(`${api}/threads/${thread}/commands`, { id: 1, method: 'run.start', params })).json();
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream.body ?? []) {
    const piece = decoder.decode(chunk, { stream: true });
    text += piece;
    // The end event of the root may arrive in two pieces.
    if (text.slice(-piece.length - 200).includes('"event":"completed","graph_name":"tokens"')) break;
  }
  gone.abort();
  expectFrames(text, /^event: messages/gm, TOKENS);
}

/** @param {string} api */
async function waitOnThread(api) {
  const { thread_id: thread } = await (await post(`${api}/threads`, {})).json();
  const { turn } = await wait(`${api}/threads/${thread}`, ONE_NODE);
  if (turn !== 1) throw new Error(`The run took ${turn} steps`);
}

/** @type {Record<string, (api: string) => Promise<void>>} */
const CASES = {
  waits: waitOnThread,
  messages: streamOf(['messages-tuple']),
  states: streamOf(['values', 'messages-tuple']),
  protocol: eventProtocol,
};

function startAlone() {
  const child = fork(join(ROOT, 'test', 'bench', 'langgraph-alone.mjs'), [], {
    execArgv: ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON'],
  });
  /** @param {string} mode @param {number} count */
  const ask = async (mode, count) => {
    child.send({ mode, count });
    const [answer] = await once(child, 'message');
    return /** @type {{ perSecond: number, ms: number }} */ (answer);
  };
  return { child, ask };
}

/**
 * @typedef {import('./gantry.mjs').Server} Server
 * @param {Server} server @param {string} what @param {number} count
 */
async function measureServer({ api, pid }, what, count) {
  const before = processorSecondsBelow(pid, partOf);
  const { perSecond } = await load(count, CONCURRENCY, () => CASES[what](api));
  const after = processorSecondsBelow(pid, partOf);
  const spent = Object.entries(after).map(([name, seconds]) => {
    return /** @type {const} */ ([name, ((seconds - (before[name] ?? 0)) / count) * 1000]);
  });
  const ms = spent.reduce((sum, [, each]) => sum + each, 0);
  return { perSecond, ms, parts: Object.fromEntries(spent) };
}

/** @param {number[]} values */
const median = (values) => percentile(values, 0.5);
/** @param {number[]} values */
const spread = (values, digits = 1) =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;

/** @param {Server[]} servers */
async function measureAll(servers) {
  const alone = startAlone();
  await once(alone.child, 'message');
  const count = Number(runs);
  const asked = process.env.BENCH_CASES?.split(',') ?? Object.keys(CASES);
  // Warm-up: a server that has just started still compiles the code that it runs.
  for (const what of asked) {
    await alone.ask(what, WARM_UP);
    for (const server of servers) await load(WARM_UP, CONCURRENCY, () => CASES[what](server.api));
  }
  for (const what of asked) {
    /** @type {{ perSecond: number, ms: number }[]} */
    const base = [];
    /** @type {Awaited<ReturnType<typeof measureServer>>[][]} */
    const found = servers.map(() => []);
    for (let round = 0; round < Number(rounds); round += 1) {
      base.push(await alone.ask(what, count));
      for (const [index, server] of servers.entries()) found[index].push(await measureServer(server, what, count));
    }
    console.log(`\n${what}, ${CONCURRENCY} at once; LangGraph alone: ${spread(base.map(({ ms }) => ms))} ms a run`);
    for (const [index, server] of servers.entries()) {
      const rows = found[index];
      const parts = [...new Set(rows.flatMap((row) => Object.keys(row.parts)))].map(
        (part) => `${part} ${median(rows.map((row) => row.parts[part] ?? 0)).toFixed(1)}`,
      );
      console.log(`  ${server.name}: ${spread(rows.map(({ ms }) => ms))} ms a run: ${parts.join(', ')}`);
      console.log(
        `    × LangGraph alone ${spread(
          rows.map(({ ms }, round) => ms / base[round].ms),
          2,
        )}` +
          `, × the first ${spread(
            rows.map(({ ms }, round) => ms / found[0][round].ms),
            2,
          )}` +
          `, ${spread(rows.map(({ perSecond }) => perSecond))} runs/s` +
          ` (${spread(
            rows.map(({ perSecond }, round) => perSecond / base[round].perSecond),
            2,
          )} of LangGraph's)`,
      );
    }
  }
  alone.child.disconnect();
}

await withBuilds(builds, { GANTRY_TRACING: process.env.GANTRY_TRACING ?? 'false' }, measureAll);
