// The token graph by LangGraph alone in one process: no server, no checkpointer, no reader but a counter. Its parent asks
// for streams and gets the processor time that they took. One after the other: streams of one graph that run at once lose tokens
// to each other where nothing keeps their contexts apart, and the work is the same.
import { load } from './measure.mjs';

const TOKENS = 200;
/** @type {Record<string, string[]>} */
const MODES = {
  messages: ['messages'],
  states: ['values', 'messages'],
  protocol: ['values', 'updates', 'messages', 'tools', 'custom', 'tasks', 'checkpoints'],
};

const { graph } = await import('./graphs/tokens.ts');

/** @param {string} mode */
async function streamOne(mode) {
  const input = { messages: [{ role: 'user', content: 'talk' }] };
  let tokens = 0;
  for await (const [kind] of await graph.stream(input, { streamMode: MODES[mode] }))
    tokens += Number(kind === 'messages');
  if (tokens < TOKENS) throw new Error(`A stream of ${tokens} tokens`);
}

process.on('message', async (/** @type {{ mode: string, count: number }} */ { mode, count }) => {
  const before = process.cpuUsage();
  const { perSecond } = await load(count, 1, () => streamOne(mode));
  const { user, system } = process.cpuUsage(before);
  process.send?.({ perSecond, ms: (user + system) / 1000 / count });
});
process.send?.('ready');
