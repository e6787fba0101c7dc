import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@langchain/langgraph-sdk';
import { EXAMPLE_GRAPHS, type Gantry, startGantry } from '../support/gantry';
import { LoadBalancer } from '../support/load-balancer';
import { waitFor } from '../support/wait-for';

const STEPS = 10;
/** Time in which the load balancer notices, on a busy machine as well. */
const DRAIN_DELAY_SECONDS = 6;
const MEGABYTE = 1024 * 1024;

const portOf = (url: string): number => Number(new URL(url).port);

/** A rolling deploy of the api: two replicas behind a load balancer, asked to stop one after the other while clients are there. */
describe('an api that is asked to stop', () => {
  let gantry: Gantry;
  let balancer: LoadBalancer;
  let second: string;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      sweepSeconds: 1,
      graphs: EXAMPLE_GRAPHS,
      graphProcesses: 1,
      env: { GANTRY_DRAIN_DELAY_SECONDS: String(DRAIN_DELAY_SECONDS), GANTRY_DRAIN_TIMEOUT_SECONDS: '30' },
    });
    second = await gantry.startReplica();
    balancer = await new LoadBalancer([portOf(gantry.url), portOf(second)]).start();
    client = new Client({ apiUrl: balancer.url, apiKey: null, callerOptions: { maxRetries: 0 } });
  });

  afterAll(async () => {
    await balancer?.stop();
    await gantry?.stop();
  });

  /** Replaces the first replica as a deploy does: the new one is ready when the old one has ended. */
  async function restart(): Promise<void> {
    await gantry.killApi('SIGTERM');
    await gantry.startApi();
    await waitFor('the new replica to be found', () => balancer.isReady(portOf(gantry.url)));
  }

  it('is not noticed by its clients: no call fails, no stream has a gap or a repeat', async () => {
    const { thread_id } = await client.threads.create();
    const failures: unknown[] = [];
    let isOver = false;
    const callers = Array.from({ length: 4 }, async () => {
      for (let calls = 0; ; calls += 1) {
        if (isOver) return calls;
        await client.threads.get(thread_id).catch((error: unknown) => failures.push(error));
        await sleep(20);
      }
    });

    const ids: number[] = [];
    const stream = async (): Promise<string[]> => {
      const { thread_id: thread } = await client.threads.create();
      const seen: string[] = [];
      const events = client.runs.stream(thread, 'pipeline', { input: { step_ms: 2_000 }, streamMode: 'updates' });
      for await (const { event, data, id } of events) {
        if (id !== undefined) ids.push(Number(id));
        if (event === 'updates') seen.push(...Object.keys(data));
      }
      return seen;
    };
    const streamed = stream();
    const waited = client.runs.wait(null, 'pipeline', { input: { step_ms: 600 } });
    await waitFor(
      'the runs',
      async () => (await gantry.sql.query(`SELECT 1 FROM runs WHERE status = 'running'`)).rowCount === 2,
    );
    await restart();
    const all = Array.from({ length: STEPS }, (_, index) => `step_${index + 1}`);
    expect(await streamed).toEqual(all);
    expect(ids).toEqual(ids.map((_, index) => index));
    expect(await waited).toMatchObject({ done: all });
    isOver = true;
    for (const calls of await Promise.all(callers)) expect(calls).toBeGreaterThan(10);
    expect(failures).toEqual([]);
    // The wait was answered by the replica that stopped, and the stream was picked up at the other one.
    const metrics = await (await fetch(`${second}/metrics`)).text();
    expect(metrics).toContain('route="/threads/:thread_id/runs/:run_id/stream"');
    expect(metrics).not.toContain('route="/runs/wait"');
  });

  it('is unready before it refuses any request, and exits by itself', async () => {
    const ended = gantry.killApi('SIGTERM');
    const ready = await waitFor('the api to be unready', async () => {
      const response = await fetch(`${gantry.url}/ready`);
      return response.status === 503 && response;
    });
    expect(await ready.json()).toMatchObject({ ready: false });
    expect(ready.headers.get('connection')).toBe('close');
    // It continues to serve until load balancers have noticed.
    expect((await fetch(`${gantry.url}/threads`, { method: 'POST', body: '{}' })).status).toBe(200);
    await ended;
    await gantry.startApi();
  });

  it('finishes an answer for a client that reads it slowly', async () => {
    const direct = new Client({ apiUrl: gantry.url, apiKey: null });
    for (let n = 0; n < 16; n += 1) await direct.store.putItem(['large'], String(n), { text: 'x'.repeat(MEGABYTE) });
    const body = JSON.stringify({ namespace_prefix: ['large'], limit: 16 });
    const socket: Socket = connect(portOf(gantry.url), '127.0.0.1');
    socket.pause();
    socket.write(
      `POST /store/items/search HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    // The answer has ended but is not sent yet: the system's buffers are full.
    await sleep(1_000);
    const ended = gantry.killApi('SIGTERM');
    // Longer than it serves as before.
    await sleep((DRAIN_DELAY_SECONDS + 2) * 1_000);
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
    const closed = new Promise((resolve, reject) => socket.once('error', reject).once('close', resolve));
    socket.resume();
    await closed;
    expect(bytes).toBeGreaterThan(16 * MEGABYTE);
    await ended;
  });
});
