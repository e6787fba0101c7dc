import { setTimeout as sleep } from 'node:timers/promises';
import { startLoopbackServer } from './loopback-server.mjs';

export const title = 'A webhook whose receiver fails three times first';

const LONGEST_MS = 45_000;

/** Behaviour of the receiver, by attempt; later attempts succeed. */
const FAILURES = /** @type {const} */ ([
  { status: 500, body: 'deploying' },
  { status: 503, body: 'still deploying' },
  'drop the connection',
]);

/** @typedef {{ id: string | undefined, body: string, answer: string }} Received */

/** @param {Received[]} received */
function receiver(received) {
  return (/** @type {import('./loopback-server.mjs').LoopbackRequest} */ { headers, body, drop }) => {
    const failure = FAILURES[received.length];
    const id = headers['webhook-id'];
    const entry = { id: id === undefined ? undefined : String(id), body, answer: '200' };
    received.push(entry);
    if (failure === undefined) return { status: 200, body: 'thanks' };
    if (typeof failure === 'string') {
      entry.answer = 'connection dropped';
      drop();
      return undefined;
    }
    entry.answer = String(failure.status);
    return failure;
  };
}

/** @param {{ gantry: import('./gantry.mjs').RunningGantry, report: import('./report.mjs').Report, keep: boolean }} demo */
export async function run({ gantry, report, keep }) {
  /** @type {Received[]} */
  const received = [];
  const server = await startLoopbackServer(receiver(received));
  try {
    const { thread_id: threadId } = await gantry.request('POST', '/threads', {});
    const webhook = `${server.url}/hook?token=secret`;
    report.ask(`POST /threads/{thread_id}/runs/wait  agent: "2 + 3", webhook ${webhook}`);
    let values;
    try {
      values = await gantry.request('POST', `/threads/${threadId}/runs/wait`, {
        assistant_id: 'agent',
        input: { messages: [{ role: 'user', content: 'What is 2 + 3?' }] },
        metadata: { demo: 'webhook' },
        webhook,
      });
    } catch (error) {
      if (!/GANTRY_WEBHOOK_ALLOW_CIDRS|loopback/.test(error.message)) throw error;
      throw new Error(
        'this Gantry refuses receivers on this machine: start it with GANTRY_WEBHOOK_ALLOW_CIDRS=127.0.0.0/8',
        { cause: error },
      );
    }
    report.answer(`"${values.messages.at(-1).content}"; the run has ended, now its webhook is delivered`);

    const delivery = await untilDelivered(gantry, report, threadId, received);
    report.answer(`${delivery.status}: ${delivery.url}, webhook-id ${delivery.webhook_id}`);
    report.table(
      delivery.attempts.map((attempt, index) => ({
        attempt: attempt.attempt,
        waited_s: index === 0 ? 0 : waitedSeconds(delivery.attempts[index - 1], attempt),
        outcome: attempt.outcome,
        code: attempt.response_code ?? '-',
        ms: attempt.duration_ms,
        answer: attempt.response_excerpt ?? attempt.error ?? '',
      })),
    );
    if (!keep) await gantry.request('DELETE', `/threads/${threadId}`);
    return judge(delivery, received);
  } finally {
    await server.close();
  }
}

/**
 * @param {import('./gantry.mjs').RunningGantry} gantry
 * @param {import('./report.mjs').Report} report
 * @param {string} threadId
 * @param {Received[]} received
 */
async function untilDelivered(gantry, report, threadId, received) {
  const deadline = Date.now() + LONGEST_MS;
  let reported = 0;
  for (;;) {
    for (; reported < received.length; reported += 1) {
      report.note(`the receiver gets attempt ${reported + 1} and answers: ${received[reported].answer}`);
    }
    const [summary] = await gantry.request('GET', `/webhooks/deliveries?thread_id=${threadId}`);
    if (summary && summary.status !== 'pending') {
      report.ask('GET /webhooks/deliveries/{delivery_id}');
      return gantry.request('GET', `/webhooks/deliveries/${summary.delivery_id}`);
    }
    if (Date.now() > deadline) {
      throw new Error(`not delivered after ${LONGEST_MS / 1000} s (${received.length} attempts have come)`);
    }
    await sleep(250);
  }
}

/** @param {{ started_at: string }} before @param {{ started_at: string }} attempt */
function waitedSeconds(before, attempt) {
  return Math.round((Date.parse(attempt.started_at) - Date.parse(before.started_at)) / 100) / 10;
}

/** @param {any} delivery @param {Received[]} received */
function judge(delivery, received) {
  const failed = delivery.attempts.filter(({ outcome }) => outcome !== 'delivered').length;
  const ids = new Set(received.map(({ id }) => id));
  const bodies = new Set(received.map(({ body }) => body));
  const run = JSON.parse(received.at(-1)?.body ?? '{}');
  const faults = [
    ...(delivery.status === 'delivered' ? [] : [`the delivery is ${delivery.status}`]),
    ...(failed === FAILURES.length ? [] : [`${failed} attempts failed where ${FAILURES.length} were made to fail`]),
    ...(received.length === delivery.attempts.length ? [] : [`${received.length} requests came`]),
    ...(ids.size === 1 && ids.has(delivery.webhook_id) ? [] : [`${ids.size} different webhook-ids came`]),
    ...(bodies.size === 1 ? [] : ['the body was not the same each time']),
    ...(run.status === 'success' && run.kwargs?.input ? [] : ['the body is not the run with its input']),
    ...(delivery.url.includes('secret') ? ['the delivery log shows the token of the URL'] : []),
  ];
  return {
    faults,
    text: `delivered at attempt ${delivery.attempts.length} after ${failed} failures; ${ids.size} webhook-id, 1 body (${delivery.body_bytes} bytes: the run, with its input in kwargs); the token is masked in the log`,
  };
}
