import { performance } from 'node:perf_hooks';

export const title = 'An agent streams its tokens (JavaScript SDK, graph "agent")';

const QUESTION = 'What is the weather in Reykjavik?';

/** @param {{ gantry: import('./gantry.mjs').RunningGantry, report: import('./report.mjs').Report, keep: boolean }} demo */
export async function run({ gantry, report, keep }) {
  const client = await gantry.client();
  report.ask('POST /threads');
  const { thread_id: threadId } = await client.threads.create();
  report.answer(`thread ${threadId}`);
  report.ask(`POST /threads/{thread_id}/runs/stream  agent, messages-tuple: "${QUESTION}"`);

  const since = performance.now();
  let firstTokenMs = 0;
  let tokens = 0;
  let text = '';
  let calls = 0;
  const stream = client.runs.stream(threadId, 'agent', {
    input: { messages: [{ role: 'human', content: QUESTION }] },
    streamMode: 'messages-tuple',
  });
  for await (const { event, data } of stream) {
    if (event === 'error') throw new Error(`the run failed: ${JSON.stringify(data)}`);
    if (event !== 'messages') continue;
    const [message] = data;
    if (message.tool_call_chunks?.[0]?.name) {
      calls += 1;
      report.note(`calls its tool ${message.tool_call_chunks[0].name}(${message.tool_call_chunks[0].args ?? ''})`);
    }
    if (!message.type.startsWith('AIMessage') && message.type !== 'ai') continue;
    if (typeof message.content !== 'string' || message.content === '') continue;
    if (tokens === 0) firstTokenMs = performance.now() - since;
    tokens += 1;
    text += message.content;
    report.piece(message.content);
  }
  const totalMs = performance.now() - since;

  report.ask('GET /threads/{thread_id}/state');
  const { values } = await client.threads.getState(threadId);
  const stored = values.messages.at(-1).content;
  report.answer(`${values.messages.length} messages, the last one is what was streamed: ${stored === text}`);
  if (!keep) await client.threads.delete(threadId);

  const faults = [
    ...(tokens > 1 ? [] : [`${tokens} pieces of text came: nothing was streamed`]),
    ...(stored === text ? [] : ['the stored answer is not what was streamed']),
  ];
  const seconds = (ms) => (ms / 1000).toFixed(2);
  return {
    faults,
    text: `${tokens} tokens, ${calls} tool call; the first token after ${seconds(firstTokenMs)} s, the last after ${seconds(totalMs)} s`,
  };
}
