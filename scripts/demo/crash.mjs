import { performance } from 'node:perf_hooks';
import { startLoopbackServer } from './loopback-server.mjs';

export const title = 'A run survives the death of its worker (SIGKILL, graph "pipeline")';

const STEPS = 10;
const STEP_MS = 200;
const KILLED_IN_STEP = 5;
const LONGEST_MS = 90_000;

/** An idempotent tool: it acts once per Idempotency-Key, and answers a repetition with the first result. */
class PaymentTool {
  constructor() {
    /** @type {Map<string, number>} how often each step called */
    this.calls = new Map();
    /** @type {Map<string, string>} what was done, by key */
    this.effects = new Map();
    /** @type {(step: string) => void} */
    this.onCall = () => {};
  }

  /** @param {import('./loopback-server.mjs').LoopbackRequest} request */
  handle({ headers, body }) {
    const { step } = JSON.parse(body);
    const key = String(headers['idempotency-key']);
    this.calls.set(step, (this.calls.get(step) ?? 0) + 1);
    if (!this.effects.has(key)) this.effects.set(key, step);
    this.onCall(step);
    return { status: 200, body: '{"ok":true}' };
  }

  get callCount() {
    return [...this.calls.values()].reduce((sum, count) => sum + count, 0);
  }
}

/** @param {{ gantry: import('./gantry.mjs').RunningGantry, report: import('./report.mjs').Report, keep: boolean }} demo */
export async function run({ gantry, report, keep }) {
  const tool = new PaymentTool();
  const server = await startLoopbackServer((request) => tool.handle(request));
  const deadline = AbortSignal.timeout(LONGEST_MS);
  try {
    const client = await gantry.client();
    const { thread_id: threadId } = await client.threads.create();
    report.ask(`POST /threads/{thread_id}/runs  pipeline: ${STEPS} steps, each calls a tool at ${server.url}`);
    const { run_id: runId } = await client.runs.create(threadId, 'pipeline', {
      input: { step_ms: STEP_MS, tool_url: server.url },
      streamMode: 'updates',
    });
    report.answer(`run ${runId}`);

    /** @type {number[]} */
    const ids = [];
    /** @type {string[]} */
    const done = [];
    let attempts = 0;
    /** @param {AbortSignal} signal */
    const follow = async (signal) => {
      const after = ids.at(-1) ?? -1;
      report.ask(`GET /threads/{thread_id}/runs/{run_id}/stream  Last-Event-ID: ${after}`);
      const options = { signal: AbortSignal.any([signal, deadline]), lastEventId: String(after) };
      for await (const { id, event, data } of client.runs.joinStream(threadId, runId, options)) {
        if (!event) continue; // how this client represents a heartbeat
        ids.push(Number(id));
        if (event === 'metadata') attempts = data.attempt;
        if (event === 'error') throw new Error(`the run failed: ${JSON.stringify(data)}`);
        if (event !== 'updates') continue;
        const steps = Object.keys(data);
        done.push(...steps);
        report.answer(`event ${id}  ${steps.join(', ')} done`);
      }
    };

    const disconnect = new AbortController();
    let killed = 0;
    let finishedBefore = 0;
    let killedAt = 0;
    tool.onCall = (step) => {
      if (killed || step !== `step_${KILLED_IN_STEP}`) return;
      // The tool has acted, and its answer is being sent: the worst moment.
      killed = gantry.killWorker();
      killedAt = performance.now();
      finishedBefore = KILLED_IN_STEP - 1;
      disconnect.abort();
    };
    await follow(disconnect.signal).catch((error) => {
      if (!disconnect.signal.aborted) throw error;
    });
    if (!killed) throw new Error('the run ended before its worker could be killed');
    report.note(`worker ${killed} is killed while step_${KILLED_IN_STEP} runs; this client loses its connection, too`);

    await follow(new AbortController().signal);
    const recoverySeconds = (performance.now() - killedAt) / 1000;
    report.ask('GET /threads/{thread_id}/runs/{run_id}');
    const { status } = await client.runs.get(threadId, runId);
    const { values } = await client.threads.getState(threadId);
    report.answer(`${status}, state holds ${values.done.length} finished steps, attempt ${attempts}`);
    const worker = await gantry.workerAfter(killed);
    report.note(`the supervisor started worker ${worker}`);
    if (!keep) await client.threads.delete(threadId);

    const repeated = [...tool.calls].filter(([, count]) => count > 1).map(([step]) => step);
    const isRepeatedWrongly = repeated.some((step) => step !== `step_${KILLED_IN_STEP}`);
    const gaps = ids.filter((id, index) => id !== ids[0] + index).length;
    const faults = [
      ...(status === 'success' ? [] : [`the run ended as ${status}`]),
      ...(values.done.length === STEPS ? [] : [`the state holds ${values.done.length} steps of ${STEPS}`]),
      ...(new Set(done).size === STEPS && done.length === STEPS ? [] : [`${done.length} steps were streamed as done`]),
      ...(tool.effects.size === STEPS ? [] : [`the tool took effect ${tool.effects.size} times for ${STEPS} steps`]),
      ...(isRepeatedWrongly ? [`finished steps ran again: ${repeated.join(', ')}`] : []),
      ...(gaps === 0 ? [] : [`${gaps} event ids are not the number after the one before`]),
    ];
    return {
      faults,
      text:
        `tool took effect ${tool.effects.size} times for ${STEPS} steps (${tool.callCount} calls: only the step in flight ` +
        `called again, with the same key); ${finishedBefore} finished steps ran 1 time each; ` +
        `${ids.length} events, ids ${ids[0]} to ${ids.at(-1)}; done ${recoverySeconds.toFixed(1)} s after the kill`,
    };
  } finally {
    await server.close();
  }
}
