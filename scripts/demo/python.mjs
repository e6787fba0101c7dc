export const title = 'A graph in Python, beside those in TypeScript (JavaScript SDK, graph "digest")';

const PARAGRAPHS = [
  'Nothing is lost. Each step of a graph is committed before the next one begins.',
  'No finished step runs twice. A worker that dies is replaced, and its runs resume at their checkpoints.',
  'What is uncertain is shown. A person decides whether a step in doubt is repeated.',
];
const DIGEST = 'Nothing is lost. No finished step runs twice. What is uncertain is shown.';

/** @param {{ gantry: import('./gantry.mjs').RunningGantry, report: import('./report.mjs').Report, keep: boolean }} demo */
export async function run({ gantry, report, keep }) {
  const client = await gantry.client();
  report.ask('POST /threads');
  const { thread_id: threadId } = await client.threads.create();
  report.answer(`thread ${threadId}`);
  report.ask(`POST /threads/{thread_id}/runs/stream  digest, updates: ${PARAGRAPHS.length} paragraphs`);
  const nodes = [];
  const stream = client.runs.stream(threadId, 'digest', {
    input: { text: PARAGRAPHS.join('\n\n') },
    streamMode: 'updates',
  });
  for await (const { event, data } of stream) {
    if (event === 'error' && data.error === 'GraphsUnavailable') {
      if (!keep) await client.threads.delete(threadId);
      return { faults: [], text: `not shown, since this machine has no Python for it: ${data.message}` };
    }
    if (event === 'error') throw new Error(`the run failed: ${JSON.stringify(data)}`);
    if (event === 'updates') nodes.push(...Object.keys(data));
  }
  report.note(`nodes: ${nodes.join(', ')}`);

  report.ask('GET /threads/{thread_id}/state');
  const { values } = await client.threads.getState(threadId);
  report.answer(values.digest);
  if (!keep) await client.threads.delete(threadId);
  const condensed = nodes.filter((node) => node === 'condense').length;
  const faults = [
    ...(condensed === PARAGRAPHS.length ? [] : [`${condensed} of ${PARAGRAPHS.length} paragraphs were condensed`]),
    ...(values.digest === DIGEST ? [] : ['the digest is not the first sentence of each paragraph']),
  ];
  return { faults, text: `${condensed} nodes in parallel, and one that joins their results` };
}
