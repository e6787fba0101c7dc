import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';
import { WebhookStack } from '../support/webhook-stack';
import { spawnWorker } from '../support/webhook-worker-process';

const DELIVERIES = 20;

describe('a worker killed in the middle of its attempts', () => {
  let stack: WebhookStack;
  let receiver: WebhookReceiver;
  let mute = true;
  let worker: ChildProcess | undefined;

  beforeAll(async () => {
    stack = await WebhookStack.start({
      GANTRY_WEBHOOK_CONCURRENCY_PER_HOST: '10',
      GANTRY_WEBHOOK_TIMEOUT_SECONDS: '30',
    });
    // While the receiver doesn't answer, attempts stay in flight as long as the worker lives.
    receiver = await new WebhookReceiver((response) => void (mute || response.end('ok'))).start();
  });

  afterAll(async () => {
    worker?.kill('SIGKILL');
    await stack.stop();
    await receiver.stop();
  });

  it('loses no delivery: each arrives, under one id, and the log says what happened', async () => {
    worker = spawnWorker(stack);
    const ids = await Promise.all(
      Array.from({ length: DELIVERIES }, (_, index) => stack.deliver(receiver.url(`/${index}`))),
    );
    await waitFor('attempts in flight', () => receiver.received.length >= 10);
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    mute = false;
    worker = spawnWorker(stack);
    const ended = await Promise.all(ids.map((id) => stack.ended(id, 120_000)));
    expect(ended.map(({ status }) => status)).toEqual(Array(DELIVERIES).fill('delivered'));
    for (const [index, delivery] of ended.entries()) {
      const got = receiver.received.filter(({ path }) => path === `/${index}`);
      expect(got.length).toBeGreaterThanOrEqual(1);
      expect(new Set(got.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([delivery.webhook_id]));
    }
    const lost = ended.filter(({ attempts }) => attempts.some(({ outcome }) => outcome === 'worker_lost'));
    expect(lost.length).toBeGreaterThanOrEqual(10);
    expect(lost[0]?.attempts.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, 'worker_lost'],
      [1, 'delivered'],
    ]);
  });
});
