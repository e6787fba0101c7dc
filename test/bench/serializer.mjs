// What a checkpoint's values cost to write and to read, beside LangGraph's own serialiser.
//   npm run build && node test/bench/serializer.mjs
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { MemorySaver } from '@langchain/langgraph-checkpoint';
import serializer from '../../dist/src/graphs/host/checkpoint-serializer.js';
import { percentile } from './measure.mjs';

const ROUNDS = 30;

/** @param {number} count of messages, of which each third calls a tool and each third is its answer */
function conversation(count) {
  const text = 'A sentence of some fifty letters, as people write. '.repeat(6);
  return Array.from({ length: count }, (_, index) => {
    const id = `message-${index}`;
    if (index % 3 === 0) return new HumanMessage({ content: text, id });
    if (index % 3 === 2)
      return new ToolMessage({ content: text, id, tool_call_id: `call-${index - 1}`, name: 'look_up' });
    return new AIMessage({
      content: text,
      id,
      tool_calls: [{ id: `call-${index}`, name: 'look_up', args: { city: 'Oslo', days: 3 }, type: 'tool_call' }],
      usage_metadata: { input_tokens: 100, output_tokens: 20, total_tokens: 120 },
      response_metadata: { model_name: 'm', finish_reason: 'tool_calls' },
    });
  });
}

const rows = (/** @type {number} */ count) =>
  Array.from({ length: count }, (_, id) => ({
    id,
    name: `row ${id}`,
    tags: ['a', 'b'],
    nested: { score: id / 7, ok: true },
  }));

const STATES = {
  'one message': conversation(1),
  '30 messages': conversation(30),
  '300 messages': conversation(300),
  '1,000 plain rows': rows(1_000),
};

/** @param {() => Promise<unknown>} work; resolves to the median in milliseconds */
async function median(work) {
  const times = [];
  const each = Math.max(1, Math.round(3 / (await timed(work))));
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = performance.now();
    for (let index = 0; index < each; index += 1) await work();
    times.push((performance.now() - begun) / each);
  }
  return percentile(times, 0.5);
}

/** @param {() => Promise<unknown>} work */
async function timed(work) {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

const library = new MemorySaver().serde;
const ours = new serializer.CheckpointSerializer();

process.stdout.write(
  '| state | write, ms | of the library | read, ms | of the library |\n| --- | --- | --- | --- | --- |\n',
);
for (const [name, state] of Object.entries(STATES)) {
  const figures = [];
  for (const serde of [ours, library]) {
    const [type, bytes] = await serde.dumpsTyped(state);
    await median(() => serde.dumpsTyped(state));
    figures.push(await median(() => serde.dumpsTyped(state)), await median(() => serde.loadsTyped(type, bytes)));
  }
  const [write, read, theirWrite, theirRead] = figures;
  const of = (/** @type {number} */ mine, /** @type {number} */ theirs) => `${Math.round((100 * mine) / theirs)} %`;
  process.stdout.write(
    `| ${name} | ${write.toFixed(3)} | ${of(write, theirWrite)} | ${read.toFixed(3)} | ${of(read, theirRead)} |\n`,
  );
}
