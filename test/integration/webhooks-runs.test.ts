import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { AppConfig } from '../../src/config/config';
import { SEALED_FIELDS } from '../../src/crypto/sealed-fields';
import { SecretBox } from '../../src/crypto/secret-box';
import { SecretValues } from '../../src/crypto/secret-values';
import { waitFor } from '../support/wait-for';
import { Received, WebhookReceiver } from '../support/webhook-receiver';
import { WebhookStack } from '../support/webhook-stack';
import { spawnWorker } from '../support/webhook-worker-process';

interface Body {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  status: string;
  thread_status?: string;
  interrupts?: unknown;
  metadata: Record<string, unknown>;
  kwargs: { input: unknown; config: { configurable: Record<string, unknown> }; webhook: string };
  values: Record<string, unknown> | null;
  error?: { error: string; message: string };
  run_started_at: string;
  run_ended_at: string;
  webhook_sent_at: string;
}

const EXAMPLES = `${__dirname}/../../examples/graphs`;
const INPUT = { step_ms: 5 };

describe('webhooks of runs', () => {
  let stack: WebhookStack;
  let receiver: WebhookReceiver;
  let worker: ChildProcess;

  beforeAll(async () => {
    const graphs = { pipeline: `${EXAMPLES}/pipeline.ts:graph`, approval: `${EXAMPLES}/approval.ts:graph` };
    stack = await WebhookStack.start({}, { graphs });
    receiver = await new WebhookReceiver().start();
    worker = spawnWorker(stack);
  });

  afterAll(async () => {
    worker?.kill('SIGKILL');
    await stack.stop();
    await receiver.stop();
  });

  async function call(path: string, body: object = {}): Promise<{ status: number; text: string }> {
    const response = await fetch(stack.api.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  }

  async function arrival(path: string): Promise<Received & { run: Body }> {
    const found = await waitFor(`a webhook at ${path}`, () =>
      receiver.received.find((each) => each.path.startsWith(path)),
    );
    return { ...found, run: JSON.parse(found.body) as Body };
  }

  const thread = async (): Promise<string> =>
    (JSON.parse((await call('/threads')).text) as { thread_id: string }).thread_id;

  it('are sent for every way to create a run, in both spellings of the path', async () => {
    const paths = ['/runs', '/runs/wait', '/runs/stream'];
    for (const prefix of ['thread', 'threads']) {
      for (const kind of ['runs', 'runs/wait', 'runs/stream']) paths.push(`/${prefix}/${await thread()}/${kind}`);
    }
    for (const [index, path] of paths.entries()) {
      const webhook = receiver.url(`/made-${index}?token=canary`);
      const { status, text } = await call(path, { assistant_id: 'pipeline', input: INPUT, webhook });
      expect([path, status]).toEqual([path, 200]);
      // The token is shown to no one again, not even the caller.
      expect(text).not.toContain('canary');
      const { run, headers } = await arrival(`/made-${index}?`);
      expect(run).toMatchObject({
        status: 'success',
        kwargs: { input: INPUT, webhook: receiver.url('/***?token=***') },
      });
      expect(headers['webhook-id']).toMatch(/^msg_/);
      expect(run.values).toMatchObject({ done: expect.arrayContaining(['step_10']) as string[] });
    }
  });

  it('are sent for each run of a batch', async () => {
    const item = (name: string) => ({
      assistant_id: 'pipeline',
      input: INPUT,
      webhook: receiver.url(`/batch-${name}`),
    });
    const { status, text } = await call('/runs/batch', [item('a'), item('b')]);
    expect(status).toBe(200);
    const ids = (JSON.parse(text) as { run_id: string }[]).map(({ run_id }) => run_id);
    expect([(await arrival('/batch-a')).run.run_id, (await arrival('/batch-b')).run.run_id]).toEqual(ids);
  });

  it('carry the run with its input, config and metadata, and its times', async () => {
    const { run } = await (async () => {
      await call('/runs/wait', {
        assistant_id: 'pipeline',
        input: INPUT,
        metadata: { order: 7 },
        config: { configurable: { flavour: 'plain' }, tags: ['t'] },
        webhook: receiver.url('/whole'),
      });
      return arrival('/whole');
    })();
    expect(run.metadata).toMatchObject({ order: 7 });
    const configured = { configurable: { flavour: 'plain' }, tags: ['t'], metadata: { order: 7 } };
    expect(run.kwargs).toMatchObject({ config: configured, context: { flavour: 'plain' } });
    for (const time of [run.run_started_at, run.run_ended_at, run.webhook_sent_at])
      expect(Date.parse(time)).not.toBeNaN();
    expect(Date.parse(run.run_ended_at)).toBeGreaterThanOrEqual(Date.parse(run.run_started_at));
  });

  it('are sent when the run fails, with the error', async () => {
    await call('/runs/wait', {
      assistant_id: 'pipeline',
      input: { step_ms: 'wrong' },
      webhook: receiver.url('/error'),
    });
    const { run } = await arrival('/error');
    expect(run.status).toBe('error');
    expect(run.error?.message).toBeTruthy();
  });

  it('are sent when the run is cancelled while it runs', async () => {
    const id = await thread();
    const made = await call(`/threads/${id}/runs`, {
      assistant_id: 'pipeline',
      input: { step_ms: 60_000 },
      webhook: receiver.url('/cancelled'),
    });
    const { run_id } = JSON.parse(made.text) as { run_id: string };
    await waitFor('the run to begin', async () => {
      const response = await fetch(`${stack.api.url}/threads/${id}/runs/${run_id}`);
      return ((await response.json()) as { status: string }).status === 'running';
    });
    await call(`/threads/${id}/runs/${run_id}/cancel?wait=true`);
    expect((await arrival('/cancelled')).run.status).toBe('interrupted');
  });

  it('are sent when the run is cancelled before it began', async () => {
    const id = await thread();
    const made = await call(`/threads/${id}/runs`, {
      assistant_id: 'pipeline',
      input: INPUT,
      after_seconds: 3_600,
      webhook: receiver.url('/never-began'),
    });
    const { run_id } = JSON.parse(made.text) as { run_id: string };
    await call(`/threads/${id}/runs/${run_id}/cancel`);
    expect((await arrival('/never-began')).run.status).toBe('interrupted');
  });

  it.each<[string, (ids: { thread: string; run: string; assistant: string }) => string]>([
    ['run', ({ thread: id, run }) => `/threads/${id}/runs/${run}`],
    ['thread', ({ thread: id }) => `/threads/${id}`],
    ['assistant with its threads', ({ assistant }) => `/assistants/${assistant}?delete_threads=true`],
  ])('are sent once when the %s is deleted while the run is in flight', async (what, pathOf) => {
    const { text } = await call('/assistants', { graph_id: 'pipeline' });
    const { assistant_id: assistant } = JSON.parse(text) as { assistant_id: string };
    const id = await thread();
    const path = `/deleted-${what.slice(0, 6)}`;
    const made = await call(`/threads/${id}/runs`, {
      assistant_id: assistant,
      input: { step_ms: 60_000 },
      webhook: receiver.url(path),
    });
    const { run_id: run } = JSON.parse(made.text) as { run_id: string };
    await waitFor('the run to begin', async () => {
      const response = await fetch(`${stack.api.url}/threads/${id}/runs/${run}`);
      return ((await response.json()) as { status: string }).status === 'running';
    });
    const deleted = await fetch(stack.api.url + pathOf({ thread: id, run, assistant }), { method: 'DELETE' });
    expect(deleted.status).toBeLessThan(300);
    expect((await arrival(path)).run).toMatchObject({ run_id: run, status: 'interrupted' });
    const listed = await fetch(`${stack.api.url}/webhooks/deliveries?run_id=${run}`);
    expect(await listed.json()).toHaveLength(1);
  });

  /** A run that begins in an hour. */
  async function delayed(webhook: string): Promise<{ run_id: string; thread_id: string }> {
    const id = await thread();
    const made = await call(`/threads/${id}/runs`, {
      assistant_id: 'pipeline',
      input: INPUT,
      after_seconds: 3_600,
      webhook: receiver.url(webhook),
    });
    return JSON.parse(made.text) as { run_id: string; thread_id: string };
  }

  const setWebhook = (runId: string, expression: string): Promise<unknown> =>
    stack.database.query(`UPDATE runs SET webhook = ${expression} WHERE run_id = $1`, [runId]);

  /** The delivery of a run with its attempts, once it has failed. */
  async function failedDelivery(runId: string): Promise<object> {
    const path = `${stack.api.url}/webhooks/deliveries`;
    const delivery = await waitFor('the end of the delivery', async () => {
      const response = await fetch(`${path}?run_id=${runId}`);
      const [found] = (await response.json()) as { status: string; delivery_id: string }[];
      return found?.status === 'failed' && found;
    });
    return (await (await fetch(`${path}/${delivery.delivery_id}`)).json()) as object;
  }

  it('are reported as failed when their URL can not be decrypted, and the run ends all the same', async () => {
    const run = await delayed('/changed');
    await setWebhook(run.run_id, "overlay(webhook placing 'changed_' from 32 for 8)");
    expect((await call(`/threads/${run.thread_id}/runs/${run.run_id}/cancel`)).status).toBeLessThan(300);
    expect(await failedDelivery(run.run_id)).toMatchObject({
      attempts: [{ outcome: 'refused_url', error: 'The stored URL cannot be decrypted' }],
    });
  });

  it('are attempted by the whole schedule when this worker lacks the key of their URL', async () => {
    const run = await delayed('/lost-key');
    await setWebhook(run.run_id, "overlay(webhook placing 'lost-key' from 4 for 8)");
    expect((await call(`/threads/${run.thread_id}/runs/${run.run_id}/cancel`)).status).toBeLessThan(300);
    const error = expect.stringContaining(
      'Sealed under key lost-key, which is neither in GANTRY_SEALING_KEYS',
    ) as string;
    expect(await failedDelivery(run.run_id)).toMatchObject({
      url: 'unreadable',
      attempts: Array(4).fill({ outcome: 'refused_url', error }),
    });
  });

  it('and their runs wait for a process that has the key, as keys are added to one after the other', async () => {
    const key = randomBytes(32);
    const newer = new SecretBox({ secrets: { sealingKeys: [key] } } as unknown as AppConfig);
    const made = await call('/assistants', { graph_id: 'pipeline', config: { configurable: { api_key: 'canary' } } });
    const { assistant_id } = JSON.parse(made.text) as { assistant_id: string };
    const [{ tenant_id: tenantId }]: [{ tenant_id: string }] = await stack.database.query(
      `SELECT tenant_id FROM assistants WHERE assistant_id = $1`,
      [assistant_id],
    );
    const secret = new SecretValues(newer).seal(tenantId, { api_key: 'canary' }).api_key;
    await stack.database.query(
      `UPDATE assistants SET config = jsonb_set(config, '{configurable,api_key}', to_jsonb($2::text)) WHERE assistant_id = $1`,
      [assistant_id, secret],
    );
    const id = await thread();
    await call(`/threads/${id}/runs`, { assistant_id, input: INPUT, webhook: receiver.url('/later-secret') });
    const attempts = `SELECT FROM runs WHERE thread_id = $1 AND attempt > 1`;
    await waitFor('a second attempt at the run', async () => (await stack.database.query<object[]>(attempts, [id]))[0]);
    worker.kill('SIGKILL');
    const other = await delayed('/later-url');
    const sealed = newer.seal(receiver.url('/later-url'), SEALED_FIELDS.runWebhook.context(tenantId, other.run_id));
    await setWebhook(other.run_id, `'${sealed}'`);
    await call(`/threads/${other.thread_id}/runs/${other.run_id}/cancel`);
    worker = spawnWorker(stack, { GANTRY_SEALING_KEYS: key.toString('base64') });
    expect((await arrival('/later-url')).run.status).toBe('interrupted');
    expect((await arrival('/later-secret')).run.status).toBe('success');
    worker.kill('SIGKILL');
    worker = spawnWorker(stack);
  }, 180_000);

  it('report that the graph waits for a person', async () => {
    const id = await thread();
    const input = { order: 'A-1', amount: 10, messages: [{ role: 'user', content: 'Refund order A-1, 10 euros' }] };
    await call(`/threads/${id}/runs/wait`, { assistant_id: 'approval', input, webhook: receiver.url('/human') });
    const { run } = await arrival('/human');
    expect(run).toMatchObject({ status: 'success', thread_status: 'interrupted' });
    expect(JSON.stringify(run.interrupts)).not.toBe('{}');
  });

  it('are refused when the run is created, with the violated rule', async () => {
    const { status, text } = await call('/runs/wait', {
      assistant_id: 'pipeline',
      input: INPUT,
      webhook: 'http://169.254.169.254/?token=canary',
    });
    expect(status).toBe(422);
    expect(text).toMatch(/webhook: metadata addresses are refused/);
    expect(text).not.toContain('canary');
  });

  it('arrive at a receiver that is down at first', async () => {
    await receiver.stop();
    await call('/runs/wait', { assistant_id: 'pipeline', input: INPUT, webhook: receiver.url('/down') });
    const listed = async (): Promise<{ attempt_count: number; last_outcome: string }[]> =>
      (await fetch(`${stack.api.url}/webhooks/deliveries?host=${receiver.hostAndPort}&status=pending`)).json() as never;
    await waitFor('a failed attempt', async () =>
      (await listed()).some(({ last_outcome }) => last_outcome === 'connection_error'),
    );
    await receiver.start();
    expect((await arrival('/down')).run.status).toBe('success');
  });
});
