import { Webhook } from 'standardwebhooks';
import { v7 as uuidv7 } from 'uuid';
import { DeliveriesRepository } from '../../src/webhooks/deliveries.repository';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';
import { WebhookStack, WebhookWorker } from '../support/webhook-stack';

const SECRETS = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`);
const TOKEN = 'canary-token-in-the-url';
const HEADER_SECRET = 'canary-secret-in-a-header';

describe('webhook delivery against real receivers', () => {
  let stack: WebhookStack;
  let worker: WebhookWorker;
  let silent: string;
  const receivers: WebhookReceiver[] = [];
  const receiver = async (...behave: ConstructorParameters<typeof WebhookReceiver>) => {
    const made = await new WebhookReceiver(...behave).start();
    receivers.push(made);
    return made;
  };

  beforeAll(async () => {
    stack = await WebhookStack.start(
      {
        GANTRY_WEBHOOK_SECRETS: SECRETS.join(','),
        GANTRY_WEBHOOK_CONNECT_TIMEOUT_SECONDS: '3',
        GANTRY_WEBHOOK_TIMEOUT_SECONDS: '3',
        GANTRY_WEBHOOK_RESPONSE_BYTES: '64',
        LG_WEBHOOK_TOKEN: HEADER_SECRET,
      },
      { webhooks: { headers: { Authorization: 'Bearer ${{ env.LG_WEBHOOK_TOKEN }}', 'X-Static': 'yes' } } },
    );
    worker = await stack.startWorker();
    // Its attempts take as long as all other tests, so it is checked at the end.
    silent = await stack.deliver((await receiver(() => undefined)).url());
  });

  afterAll(async () => {
    await stack.stop();
    await Promise.all(receivers.map((each) => each.stop()));
  });

  it('posts the body once, signed with both secrets, with the configured headers', async () => {
    const target = await receiver();
    const id = await stack.deliver(target.url(`/hook?token=${TOKEN}`), { run_id: 'r', kwargs: { input: 'ü' } });
    const delivery = await stack.ended(id);
    expect(delivery).toMatchObject({
      status: 'delivered',
      attempt_count: 1,
      last_response_code: 200,
      last_error: null,
    });
    expect(target.received).toHaveLength(1);
    const [{ headers, body, path }] = target.received as [(typeof target.received)[0]];
    expect(path).toBe(`/hook?token=${TOKEN}`);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      authorization: `Bearer ${HEADER_SECRET}`,
      'x-static': 'yes',
      'webhook-id': delivery.webhook_id,
    });
    for (const secret of SECRETS) {
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
        kwargs: { input: 'ü' },
      });
    }
    expect(JSON.parse(body).webhook_sent_at).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(delivery.url).toBe(target.url('/***?token=***'));
    expect(delivery.attempts[0]).toMatchObject({
      outcome: 'delivered',
      response_excerpt: 'ok',
      request_headers: { authorization: '***', 'x-static': '***' },
    });
    expect(delivery.attempts[0]?.signed_with).toHaveLength(2);
  });

  it('is started by the sweep when the process died after the commit', async () => {
    const target = await receiver();
    const delivery = await stack.ended(await stack.enqueue(target.url()));
    expect(delivery.status).toBe('delivered');
    expect(target.received).toHaveLength(1);
  });

  it('keeps secrets out of the database, the api and the history', async () => {
    const target = await receiver();
    const id = await stack.deliver(target.url(`/hook?token=${TOKEN}`));
    await stack.ended(id);
    const rows = JSON.stringify([
      await stack.database.query('SELECT * FROM webhook_deliveries'),
      await stack.database.query('SELECT * FROM webhook_attempts'),
    ]);
    const { Client, Connection } = await import('@temporalio/client');
    const connection = await Connection.connect({ address: stack.api.config.temporal.address });
    const client = new Client({ connection, namespace: stack.api.config.temporal.namespace });
    const history = await client.workflow.getHandle(`webhook-${id}`).fetchHistory();
    await connection.close();
    const payloads = Buffer.from(JSON.stringify(history)).toString() + decoded(history);
    for (const text of [rows, JSON.stringify(await stack.get(id)), payloads]) {
      expect(text).not.toContain(TOKEN);
      expect(text).not.toContain(HEADER_SECRET);
    }
  });

  it('arrives at a receiver that is down at first, under one id', async () => {
    const target = await receiver();
    await target.stop();
    const id = await stack.deliver(target.url());
    await waitFor('the first attempt', async () => (await stack.get(id)).last_outcome !== null);
    await target.start();
    const delivery = await stack.ended(id);
    expect(delivery.status).toBe('delivered');
    expect(delivery.attempts.map(({ outcome }) => outcome)).toContain('connection_error');
    expect(delivery.attempts[0]?.error).toBe('The connection was refused');
  });

  it('repeats the same bytes under the same id until the receiver recovers', async () => {
    const target = await receiver((response, _request, count) => response.writeHead(count < 4 ? 500 : 204).end());
    const delivery = await stack.ended(await stack.deliver(target.url()));
    expect(delivery).toMatchObject({ status: 'delivered', attempt_count: 4, max_attempts: 4 });
    expect(new Set(target.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(target.received.map(({ body }) => body)).size).toBe(1);
    expect(delivery.attempts.map(({ response_code }) => response_code)).toEqual([500, 500, 500, 204]);
  });

  it('gives up visibly at the end of the schedule', async () => {
    const target = await receiver((response) => response.writeHead(400).end('no\u0000\u001b[31m'));
    const delivery = await stack.ended(await stack.deliver(target.url()));
    expect(delivery).toMatchObject({
      status: 'failed',
      attempt_count: 4,
      last_outcome: 'client_error',
      next_attempt_at: null,
    });
    expect(delivery.last_error).toBe('Answered 400');
    expect(delivery.attempts[0]?.response_excerpt).toBe('no\ufffd\ufffd[31m');
    expect(target.received).toHaveLength(4);
  });

  it('stops at 410', async () => {
    const target = await receiver((response) => response.writeHead(410).end());
    const delivery = await stack.ended(await stack.deliver(target.url()));
    expect(delivery).toMatchObject({ status: 'failed', attempt_count: 1, last_outcome: 'gone' });
  });

  it.each([429, 503])('waits as long as the Retry-After of a %i requests', async (status) => {
    const target = await receiver((response, _request, count) =>
      count === 1 ? response.writeHead(status, { 'retry-after': '2' }).end() : response.end(),
    );
    const delivery = await stack.ended(await stack.deliver(target.url()));
    expect(delivery.status).toBe('delivered');
    const [first, second] = target.received;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1_950);
  });

  it('does not follow a redirect', async () => {
    const trap = await receiver();
    const target = await receiver((response) => response.writeHead(307, { location: trap.url() }).end());
    const delivery = await stack.ended(await stack.deliver(target.url()));
    expect(delivery).toMatchObject({ status: 'failed', last_outcome: 'redirect_refused', last_response_code: 307 });
    expect(trap.connections).toBe(0);
  });

  it('ends an attempt at a receiver that never answers', async () => {
    expect(await stack.ended(silent)).toMatchObject({
      status: 'failed',
      last_outcome: 'timeout',
      last_error: 'No answer within 3 s',
    });
  });

  it('ends an attempt at a receiver that closes early or does not speak HTTP', async () => {
    const early = await receiver((response) => response.socket?.destroy());
    const rude = await receiver((response) => response.socket?.end('SSH-2.0-OpenSSH\r\n'));
    const [first, second] = await Promise.all(
      [early, rude].map(async (each) => stack.ended(await stack.deliver(each.url()))),
    );
    expect(first).toMatchObject({ status: 'failed', last_outcome: 'connection_error' });
    expect(second).toMatchObject({ status: 'failed', last_outcome: 'connection_error' });
    expect(second?.last_error).toMatch('not HTTP');
  });

  it('reports that TLS failed, and how', async () => {
    const target = await receiver();
    const delivery = await stack.ended(await stack.deliver(target.url().replace('http:', 'https:')));
    expect(delivery).toMatchObject({ status: 'failed', last_outcome: 'tls_error' });
    expect(delivery.last_error).toMatch(/^TLS failed: ERR_SSL_/);
    expect(target.received).toHaveLength(0);
  });

  it('counts a 200 as delivered without reading a body that never ends', async () => {
    let sent = 0;
    const target = await receiver((response) => {
      response.writeHead(200, { 'content-length': String(10 * 1024 ** 3) });
      const chunk = Buffer.alloc(65_536, 'x');
      const pump = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        if (!response.destroyed) response.once('drain', pump);
      };
      pump();
    });
    const delivery = await stack.ended(await stack.deliver(target.url()));
    expect(delivery.status).toBe('delivered');
    expect(delivery.attempts[0]?.response_excerpt).toBe('x'.repeat(64));
    expect(sent).toBeLessThan(20 * 1024 * 1024);
  });

  it('counts a 200 as delivered when its body trickles', async () => {
    const target = await receiver((response) => {
      response.writeHead(200).write('a');
      const timer = setInterval(() => response.write('b'), 100);
      response.on('close', () => clearInterval(timer));
    });
    const delivery = await stack.ended(await stack.deliver(target.url()));
    expect(delivery.status).toBe('delivered');
    expect(delivery.attempts[0]?.response_excerpt).toMatch(/^ab+$/);
  });

  it('refuses an answer with headers that are too large', async () => {
    const target = await receiver((response) => response.writeHead(200, { 'x-large': 'x'.repeat(40_000) }).end());
    const delivery = await stack.ended(await stack.deliver(target.url()));
    expect(delivery).toMatchObject({ status: 'failed', last_outcome: 'connection_error' });
    expect(delivery.last_error).toMatch('headers');
  });

  it('is handed over to another worker when its own is stopped', async () => {
    let mute = true;
    const target = await receiver((response) => void (mute || response.end()));
    const id = await stack.deliver(target.url());
    await waitFor('the attempt', () => target.received.length > 0);
    await worker.stop();
    mute = false;
    worker = await stack.startWorker();
    const delivery = await stack.ended(id);
    expect(delivery).toMatchObject({ status: 'delivered' });
    expect(delivery.attempts.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, 'worker_lost'],
      [1, 'delivered'],
    ]);
    expect(new Set(target.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  describe('whose last attempt is made by two workers, since one was believed lost,', () => {
    let deliveries: DeliveriesRepository;
    let deliveryId: string;
    let first: string;
    let second: string;

    async function begin(): Promise<string> {
      const attemptId = uuidv7();
      const made = { attemptId, deliveryId, attempt: 4, plannedAt: new Date(), startedAt: new Date() };
      const later = new Date(Date.now() + 600_000);
      await deliveries.beginAttempt(stack.tenantId, { ...made, requestHeaders: {}, signedWith: [] }, 'lost', later);
      return attemptId;
    }
    /** Resolves to the status that the delivery then has. */
    async function end(attemptId: string, status: 'delivered' | 'failed'): Promise<string> {
      const [outcome, responseCode] =
        status === 'delivered' ? (['delivered', 200] as const) : (['server_error', 500] as const);
      const answer = { outcome, responseCode, durationMs: 1, responseExcerpt: null, error: null, nextAttemptAt: null };
      await deliveries.conclude(stack.tenantId, { attemptId, deliveryId, ...answer }, status, new Date());
      return (await stack.get(deliveryId)).status;
    }

    beforeEach(async () => {
      deliveries = stack.api.app.get(DeliveriesRepository, { strict: false });
      deliveryId = await stack.enqueue('http://127.0.0.1:9/hook');
      first = await begin();
      second = await begin();
    });

    it('is not ended by the failure of the superseded one', async () => {
      expect(await end(first, 'failed')).toBe('pending');
      expect(await end(second, 'delivered')).toBe('delivered');
    });

    it('is ended by the failure of the other one, until the superseded one delivers', async () => {
      expect(await end(second, 'failed')).toBe('failed');
      expect(await end(first, 'delivered')).toBe('delivered');
    });

    it('is ended by the first success', async () => {
      expect(await end(first, 'delivered')).toBe('delivered');
      expect(await end(second, 'failed')).toBe('delivered');
    });
  });

  it('shows that an attempt in flight may have arrived when the delivery is cancelled', async () => {
    const deliveries = stack.api.app.get(DeliveriesRepository, { strict: false });
    const deliveryId = await stack.enqueue('http://127.0.0.1:9/hook');
    const made = { attemptId: uuidv7(), deliveryId, attempt: 1, plannedAt: new Date(), startedAt: new Date() };
    const later = new Date(Date.now() + 600_000);
    await deliveries.beginAttempt(stack.tenantId, { ...made, requestHeaders: {}, signedWith: [] }, 'lost', later);
    await deliveries.endDelivery(stack.tenantId, deliveryId, 'cancelled', 'Cancelled by an operator');
    const error = 'Cancelled by an operator, during the attempt: the receiver may have got it';
    expect(await stack.get(deliveryId)).toMatchObject({
      status: 'cancelled',
      attempts: [{ outcome: 'worker_lost', error }],
    });
  });

  it.each(['ends', 'is repeated'] as const)('is cancelled at the moment at which its attempt %s', async (what) => {
    const deliveries = stack.api.app.get(DeliveriesRepository, { strict: false });
    const deliveryId = await stack.enqueue('http://127.0.0.1:9/hook');
    const later = new Date(Date.now() + 600_000);
    const begin = async (): Promise<string> => {
      const attemptId = uuidv7();
      const made = { attemptId, deliveryId, attempt: 1, plannedAt: new Date(), startedAt: new Date() };
      await deliveries.beginAttempt(stack.tenantId, { ...made, requestHeaders: {}, signedWith: [] }, 'lost', later);
      return attemptId;
    };
    const end = (attemptId: string): Promise<boolean> => {
      const answer = { responseCode: 200, durationMs: 1, responseExcerpt: null, error: null, nextAttemptAt: null };
      const ended = { attemptId, deliveryId, outcome: 'delivered' as const, ...answer };
      return deliveries.conclude(stack.tenantId, ended, 'delivered', later);
    };
    const waiting = (count: number): Promise<unknown> =>
      waitFor(`${count} statements that wait for the delivery`, async () => {
        const found: object[] = await stack.database.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
             AND query LIKE '%webhook_deliveries%'`,
        );
        return found.length === count;
      });
    const attemptId = await begin();
    const holder = stack.database.createQueryRunner();
    try {
      await holder.startTransaction();
      await holder.query('SELECT FROM webhook_deliveries WHERE delivery_id = $1 FOR NO KEY UPDATE', [deliveryId]);
      const cancelled = deliveries.endDelivery(stack.tenantId, deliveryId, 'cancelled', 'Cancelled by an operator');
      await waiting(1);
      const other = what === 'ends' ? end(attemptId) : begin();
      await waiting(2);
      await holder.commitTransaction();
      // In another order of their locks, Postgres would end one of them as a deadlock.
      await Promise.all([cancelled, other]);
    } finally {
      if (holder.isTransactionActive) await holder.rollbackTransaction();
      await holder.release();
    }
    expect(await stack.get(deliveryId)).toMatchObject({
      status: 'cancelled',
      attempts: what === 'ends' ? [{ outcome: 'delivered' }] : [{ outcome: 'worker_lost' }, { outcome: null }],
    });
  });

  it('fails when the rules refuse a URL at the time of delivery, without a connection', async () => {
    const delivery = await stack.ended(await stack.deliver('http://10.0.0.1/hook?token=t'));
    expect(delivery).toMatchObject({
      status: 'failed',
      attempt_count: 1,
      last_outcome: 'refused_url',
      host: '10.0.0.1',
    });
  });
});

function decoded(history: { events?: unknown }): string {
  const found: string[] = [];
  JSON.stringify(history.events, (_key, value: unknown) => {
    if (value instanceof Uint8Array) found.push(Buffer.from(value).toString('utf8'));
    return value;
  });
  return found.join('\n');
}
