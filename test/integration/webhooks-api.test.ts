import type { DeliveryResponse } from '../../src/webhooks/webhooks.schemas';
import { runPython } from '../support/python';
import { WebhookReceiver } from '../support/webhook-receiver';
import { WebhookStack } from '../support/webhook-stack';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

describe('webhook deliveries over the api', () => {
  let stack: WebhookStack;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    // No sweep runs, so deliveries are started by the request that stores them.
    stack = await WebhookStack.start({ GANTRY_WEBHOOK_SECRETS: SECRET, GANTRY_SWEEP_INTERVAL_SECONDS: '3600' });
    await stack.startWorker();
    receiver = await new WebhookReceiver((response, { path }) =>
      response.writeHead(path.startsWith('/fail') ? 410 : 200).end(),
    ).start();
  });

  afterAll(async () => {
    await stack.stop();
    await receiver.stop();
  });

  async function list(query: string): Promise<{ rows: DeliveryResponse[]; headers: Headers; status: number }> {
    const response = await fetch(`${stack.api.url}/webhooks/deliveries?${query}`);
    return { status: response.status, headers: response.headers, rows: (await response.json()) as DeliveryResponse[] };
  }

  async function call<T = unknown>(path: string, body?: object): Promise<T> {
    const response = await fetch(stack.api.url + path, {
      method: 'POST',
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    expect(response.ok).toBe(true);
    const text = await response.text();
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  it('lists by run, thread, status and host, newest first, with the exact total', async () => {
    const ids: string[] = [];
    for (const path of ['/a', '/b', '/fail']) {
      const id = await stack.deliver(receiver.url(path));
      await stack.ended(id);
      ids.unshift(id);
    }
    const all = await list('limit=2');
    expect(all.rows.map(({ delivery_id }) => delivery_id)).toEqual(ids.slice(0, 2));
    expect(all.headers.get('x-pagination-total')).toBe('3');
    expect(all.headers.get('x-pagination-next')).toBe('2');
    const rest = await list('limit=2&offset=2');
    expect(rest.rows.map(({ delivery_id }) => delivery_id)).toEqual(ids.slice(2));
    expect(rest.headers.get('x-pagination-next')).toBeNull();
    const [last] = all.rows as [DeliveryResponse];
    expect((await list(`run_id=${last.run_id}`)).rows).toEqual([last]);
    expect((await list(`thread_id=${last.thread_id}`)).rows).toEqual([last]);
    expect((await list('status=failed')).rows).toEqual([last]);
    expect((await list(`host=${receiver.hostAndPort}`)).rows).toHaveLength(3);
    expect((await list('host=other.example')).rows).toEqual([]);
  });

  it('sends the webhook of a run that is cancelled before it begins', async () => {
    const thread = await call<{ thread_id: string }>('/threads', {});
    const runs = `/threads/${thread.thread_id}/runs`;
    const webhook = receiver.url('/cancelled');
    const run = await call<{ run_id: string }>(runs, { assistant_id: 'approval', input: {}, webhook });
    await call(`${runs}/${run.run_id}/cancel`);
    const [delivery] = (await list(`run_id=${run.run_id}`)).rows as [DeliveryResponse];
    expect(await stack.ended(delivery.delivery_id)).toMatchObject({ status: 'delivered' });
    const { body } = receiver.received.find(({ path }) => path === '/cancelled')!;
    expect(JSON.parse(body)).toMatchObject({ run_id: run.run_id, status: 'interrupted' });
  });

  it('names the wrong field of a query', async () => {
    for (const query of ['status=done', 'run_id=x', 'limit=0', 'limit=1001', 'offset=-1']) {
      expect((await list(query)).status).toBe(422);
    }
  });

  it('finds only the deliveries of the tenant', async () => {
    const id = await stack.deliver(receiver.url('/tenants'));
    await stack.ended(id);
    const other = '11111111-1111-4111-8111-111111111111';
    await stack.database.query(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'other') ON CONFLICT DO NOTHING`, [
      other,
    ]);
    await stack.database.query('UPDATE webhook_deliveries SET tenant_id = $1 WHERE delivery_id = $2', [other, id]);
    await stack.database.query('UPDATE webhook_attempts SET tenant_id = $1 WHERE delivery_id = $2', [other, id]);
    expect((await fetch(`${stack.api.url}/webhooks/deliveries/${id}`)).status).toBe(404);
    expect((await stack.post(`/webhooks/deliveries/${id}/redeliver`)).status).toBe(404);
    expect((await list('limit=1000')).rows.map(({ delivery_id }) => delivery_id)).not.toContain(id);
  });

  it('sends a delivery again, with the same bytes and webhook-id, as a separate delivery', async () => {
    const first = await stack.ended(await stack.deliver(receiver.url('/again?token=t'), { status: 'success', n: 1 }));
    const { status, body } = await stack.post(`/webhooks/deliveries/${first.delivery_id}/redeliver`);
    expect(status).toBe(202);
    expect(body).toMatchObject({ replay_of: first.delivery_id, webhook_id: first.webhook_id, run_id: first.run_id });
    expect(body.delivery_id).not.toBe(first.delivery_id);
    const second = await stack.ended(body.delivery_id);
    expect(second.status).toBe('delivered');
    const [one, two] = receiver.received.filter(({ path }) => path === '/again?token=t');
    expect(two?.body).toBe(one?.body);
    expect(two?.headers['webhook-id']).toBe(one?.headers['webhook-id']);
    const again = await stack.post(`/webhooks/deliveries/${second.delivery_id}/redeliver`);
    expect(again.body.webhook_id).toBe(first.webhook_id);
    await stack.ended(again.body.delivery_id);
  });

  it('answers 404 for a delivery that does not exist', async () => {
    const path = '/webhooks/deliveries/22222222-2222-4222-8222-222222222222';
    expect((await fetch(stack.api.url + path)).status).toBe(404);
    expect((await stack.post(`${path}/redeliver`)).status).toBe(404);
    expect((await fetch(`${stack.api.url}/webhooks/deliveries/x`)).status).toBe(422);
  });

  it('sends a test delivery once', async () => {
    const { status, body } = await stack.post('/webhooks/test', { url: receiver.url('/test?token=t') });
    expect(status).toBe(202);
    expect(body).toMatchObject({ kind: 'test', max_attempts: 1, url: receiver.url('/***?token=***') });
    expect(await stack.ended(body.delivery_id)).toMatchObject({ status: 'delivered', last_response_code: 200 });
    const got = receiver.received.find(({ path }) => path === '/test?token=t');
    expect(JSON.parse(got?.body ?? '{}')).toMatchObject({ status: 'success', metadata: { gantry_test: true } });
  });

  it('refuses a test to a URL that breaks a rule, and names the rule', async () => {
    const { status, body } = await stack.post('/webhooks/test', { url: 'http://10.0.0.1/?token=t0ken' });
    expect(status).toBe(422);
    expect(body.detail).toMatch(/^url: private/);
    expect(JSON.stringify(body)).not.toContain('t0ken');
    expect((await stack.post('/webhooks/test', {})).status).toBe(422);
  });

  it('calls a path of this server on behalf of the tenant', async () => {
    const { body } = await stack.post('/webhooks/test', { url: '/webhooks/test' });
    expect(body.host).toBe('internal');
    const delivery = await stack.ended(body.delivery_id);
    // The sample is no test request: that its 422 came back shows that the route was reached and let the call in.
    expect(delivery).toMatchObject({ status: 'failed', last_outcome: 'client_error', last_response_code: 422 });
  });

  it('is described in OpenAPI with its answers', async () => {
    const document = JSON.stringify(await (await fetch(`${stack.api.url}/openapi.json`)).json());
    expect(document).toContain('/webhooks/deliveries/{delivery_id}/redeliver');
    expect(document).toContain('response_excerpt');
  });

  it('is verified by the Python library of Standard Webhooks', async () => {
    await stack.ended(await stack.deliver(receiver.url('/python'), { greeting: 'grüße 🙂' }));
    const got = receiver.received.find(({ path }) => path === '/python');
    const script = [
      'import json, sys',
      'from standardwebhooks.webhooks import Webhook',
      'got = json.loads(sys.argv[2])',
      'print(json.dumps(Webhook(sys.argv[1]).verify(got["body"], got["headers"])))',
    ].join('\n');
    const answered = JSON.stringify({ body: got?.body, headers: got?.headers });
    const verified = await runPython(['-c', script, SECRET, answered]);
    expect(JSON.parse(verified)).toMatchObject({ greeting: 'grüße 🙂' });
  });
});
