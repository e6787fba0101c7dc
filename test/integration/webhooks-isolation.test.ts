import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { DeliveryStatus } from '../../src/webhooks/delivery.entity';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';
import { WebhookStack } from '../support/webhook-stack';

const HOSTS = 6;
const DELIVERIES = Number(process.env.GANTRY_TEST_WEBHOOK_LOAD ?? 240);

/** A third of the hosts accept every connection and never answer. */
class DeadHost {
  connections = 0;
  mostAtOnce = 0;
  private readonly open = new Set<Socket>();
  private server: Server | undefined;

  async start(): Promise<this> {
    this.server = createServer((socket) => {
      this.connections += 1;
      this.open.add(socket.resume());
      this.mostAtOnce = Math.max(this.mostAtOnce, this.open.size);
      socket.on('error', () => undefined).on('close', () => this.open.delete(socket));
    });
    await new Promise<void>((resolve) => this.server?.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server?.address() as AddressInfo).port}/`;
  }

  async stop(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    await new Promise((resolve) => this.server?.close(resolve));
  }
}

describe('dead receivers', () => {
  let stack: WebhookStack;
  const dead: DeadHost[] = [];
  const healthy: WebhookReceiver[] = [];

  beforeAll(async () => {
    for (let index = 0; index < HOSTS; index += 1) {
      if (index % 3 === 0) dead.push(await new DeadHost().start());
      else healthy.push(await new WebhookReceiver().start());
    }
    // 40 places in the worker: without a limit per host, the dead ones' deliveries would take all of them.
    stack = await WebhookStack.start({
      GANTRY_WEBHOOK_CONCURRENCY: '40',
      GANTRY_WEBHOOK_CONCURRENCY_PER_HOST: '4',
      GANTRY_WEBHOOK_TIMEOUT_SECONDS: '10',
      GANTRY_WEBHOOK_RETRY_SECONDS: '600',
    });
    await stack.startWorker();
  });

  afterAll(async () => {
    await stack.stop();
    await Promise.all([...dead, ...healthy].map((host) => host.stop()));
  });

  async function counts(status: DeliveryStatus): Promise<number> {
    const response = await fetch(`${stack.api.url}/webhooks/deliveries?limit=1&status=${status}`);
    return Number(response.headers.get('x-pagination-total'));
  }

  /** Duration of each healthy delivery, from its start to its arrival. */
  async function round(urls: string[]): Promise<number[]> {
    const sent = new Map<string, number>();
    const before = await counts('delivered');
    const expected = urls.filter((url) => healthy.some((host) => url.startsWith(host.url('')))).length;
    for (let index = 0; index < urls.length; index += 20) {
      await Promise.all(
        urls.slice(index, index + 20).map(async (url, offset) => {
          const key = `${url}?n=${before + index + offset}`;
          sent.set(key, Date.now());
          await stack.deliver(key, { key });
        }),
      );
    }
    await waitFor('the healthy deliveries', async () => (await counts('delivered')) >= before + expected, 300_000);
    return healthy
      .flatMap(({ received }) =>
        received.map(({ body, at }) => at - (sent.get((JSON.parse(body) as { key: string }).key) ?? NaN)),
      )
      .filter((ms) => !Number.isNaN(ms))
      .sort((a, b) => a - b);
  }

  it('delay no other deliveries', async () => {
    const spread = (targets: string[]): string[] =>
      Array.from({ length: DELIVERIES }, (_, index) => targets[index % targets.length] ?? '');
    const good = healthy.map((host) => host.url());
    // The same number of deliveries with and without the dead, so that only the dead make the difference.
    const alone = await round(spread(good));
    const mixed = dead.flatMap((host, index) => [host.url, ...good.slice(index * 2, index * 2 + 2)]);
    const started = Date.now();
    const beside = await round(spread(mixed));
    expect(beside).toHaveLength((DELIVERIES * 2) / 3);
    // All healthy deliveries are there while the dead ones have not even got through their first attempts' time-outs.
    const firstRoundOfTheDead = (DELIVERIES / 3 / (dead.length * 4)) * 10_000;
    expect(Date.now() - started).toBeLessThan(Math.max(firstRoundOfTheDead, 30_000));
    expect(await counts('pending')).toBe(DELIVERIES / 3);
    for (const host of dead) expect(host.mostAtOnce).toBeLessThanOrEqual(4);
    const p99 = (all: number[]): number => all[Math.floor(all.length * 0.99)] ?? 0;
    process.stdout.write(`p99 alone ${p99(alone)} ms, beside dead hosts ${p99(beside)} ms, ${DELIVERIES} deliveries\n`);
  }, 700_000);
});
