// The graphs of processor-time.mjs by LangGraph alone in one process: no server, no checkpointer, no reader but a counter. Its
// parent asks for runs and gets the processor time that they took. One after the other: streams of one graph that run at once
// lose tokens to each other where nothing keeps their contexts apart, and the work is the same.
import { load } from './measure.mjs';

const TOKENS = 200;
/** @type {Record<string, string[]>} */
const MODES = {
  messages: ['messages'],
  states: ['values', 'messages'],
  protocol: ['values', 'updates', 'messages', 'tools', 'custom', 'tasks', 'checkpoints'],
};

const { graph } = await import('./graphs/tokens.ts');
const { graph: loop } = await import('./graphs/loop.ts');

/** @param {string} mode */
async function runOne(mode) {
  if (mode === 'waits') {
    await loop.invoke({ turns: 1, turn: 0 });
    return;
  }
  const input = { messages: [{ role: 'user', content: 'talk' }] };
  let tokens = 0;
  for await (const [kind] of await graph.stream(input, { streamMode: MODES[mode] }))
    tokens += Number(kind === 'messages');
  if (tokens < TOKENS) throw new Error(`A stream of ${tokens} tokens`);
}

process.on('message', async (/** @type {{ mode: string, count: number }} */ { mode, count }) => {
  const before = process.cpuUsage();
  const { perSecond } = await load(count, 1, () => runOne(mode));
  const { user, system } = process.cpuUsage(before);
  process.send?.({ perSecond, ms: (user + system) / 1000 / count });
});
process.send?.('ready');
