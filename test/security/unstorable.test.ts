import { randomUUID } from 'node:crypto';
import type { Client } from '@langchain/langgraph-sdk';
import { AgentCaller, type Task } from '../support/a2a';
import { Gantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

const REPLACED = 'a\ufffdb\ufffdc';
const ALL = ['values', 'updates', 'messages', 'messages-tuple', 'custom', 'tasks', 'checkpoints', 'debug', 'events'];

/** A graph may produce any text; each run ends exactly once, whatever the tables can store. */
describe('half a surrogate pair, and U+0000', () => {
  let gantry: Gantry;
  let client: Client;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await new WebhookReceiver().start();
    gantry = await Gantry.start({ graphProcesses: 1, env: { GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' } });
    client = gantry.client();
  });

  afterAll(async () => {
    await gantry?.stop();
    await receiver.stop();
  });

  /** Runs the graph to its end; resolves to its thread, its row and how often its node was executed. */
  async function ended(how: string, options: object = {}) {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'odd', {
      input: { how },
      streamMode: ALL as never,
      ...options,
    });
    const run = await waitFor('the end of the run', async () => {
      const { rows } = await gantry.sql.query<{ status: string; attempt: number; error: unknown }>(
        `SELECT status, attempt, error FROM runs WHERE run_id = $1 AND ended_at IS NOT NULL`,
        [run_id],
      );
      return rows[0];
    });
    const executions = (await gantry.ledger.of(run_id)).filter(({ node }) => node === 'make').length;
    return { thread_id, run_id, run, executions };
  }

  it('end a run when they are in a state, which keeps them and shows their replacements', async () => {
    const { thread_id, run_id, run, executions } = await ended('return', { webhook: receiver.url() });
    expect([run.status, run.attempt, executions]).toEqual(['success', 1, 1]);
    const { values } = await client.threads.get<{ odd: unknown }>(thread_id);
    expect(values.odd).toEqual({ [REPLACED]: REPLACED });
    expect((await client.threads.getState<{ odd: unknown }>(thread_id)).values.odd).toEqual({
      'a\ud83db\0c': 'a\ud83db\0c',
    });
    expect(await client.runs.join(thread_id, run_id)).toHaveProperty('odd');
    const delivery = await waitFor('the webhook', () => receiver.received.find(({ body }) => body.includes(run_id)));
    expect((JSON.parse(delivery.body) as { values: { odd: unknown } }).values.odd).toEqual({ [REPLACED]: REPLACED });
  });

  it('end a run when they are in an error', async () => {
    const { thread_id, run, executions } = await ended('throw');
    expect([run, executions]).toEqual([
      { status: 'error', attempt: 1, error: { error: `Error${REPLACED}`, message: REPLACED } },
      1,
    ]);
    expect((await client.threads.get(thread_id)).status).toBe('error');
  });

  it('end a run when they are in a question, which can be answered', async () => {
    const { thread_id, run, executions } = await ended('ask');
    expect([run.status, run.attempt, executions]).toEqual(['success', 1, 1]);
    const { interrupts } = await client.threads.get(thread_id);
    expect(Object.values(interrupts).flat()[0].value).toEqual({ [REPLACED]: REPLACED });
    expect(await client.runs.wait(thread_id, 'odd', { command: { resume: 'yes' } })).toMatchObject({ odd: 'yes' });
  });

  it('do not prevent a run from being cancelled', async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'odd', { input: { how: 'nap' } });
    await waitFor('the nap', async () => (await gantry.ledger.of(run_id)).some(({ node }) => node === 'nap'));
    await client.runs.cancel(thread_id, run_id, true);
    expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'interrupted' });
    const { values } = await client.threads.get<{ odd: unknown }>(thread_id);
    expect(values.odd).toEqual({ [REPLACED]: REPLACED });
  });

  it('may be in an answer of A2A', async () => {
    const [{ assistant_id }] = await client.assistants.search({ graphId: 'odd' });
    const { task } = await new AgentCaller(gantry.url, assistant_id).result<{ task: Task }>('SendMessage', {
      message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] },
    });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('are refused in the context of an A2A message, which names a thread', async () => {
    const [{ assistant_id }] = await client.assistants.search({ graphId: 'odd' });
    const message = { messageId: randomUUID(), contextId: '\ud83d', role: 'ROLE_USER', parts: [{ text: 'hi' }] };
    const caller = new AgentCaller(gantry.url, assistant_id);
    const error = { code: -32602, message: expect.stringMatching(/contextId.*surrogate/) as unknown };
    for (const method of ['SendMessage', 'SendStreamingMessage']) {
      expect(await caller.call(method, { message })).toMatchObject({ error });
    }
  });

  it('are refused in the key of a feedback token', async () => {
    const response = await fetch(`${gantry.url}/feedback/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ run_id: randomUUID(), feedback_key: 'a\ud83d' }),
    });
    expect([response.status, await response.text()]).toEqual([422, expect.stringMatching(/feedback_key.*surrogate/)]);
  });

  it('are refused in fields that are stored unchanged', async () => {
    const { thread_id } = await client.threads.create();
    for (const text of ['"\\ud83d"', '"\\u0000"']) {
      const bodies = [
        ['/threads', `{"metadata":{"a":${text}}}`],
        [`/threads/${thread_id}/runs`, `{"assistant_id":"odd","input":{"how":${text}}}`],
        ['/runs/crons', `{"assistant_id":"odd","schedule":"0 0 1 1 *","input":{"how":${text}}}`],
        ['/assistants', `{"graph_id":"odd","metadata":{"a":${text}}}`],
      ];
      for (const [path, body] of bodies) {
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(gantry.url + path, { method: 'POST', headers, body });
        expect([path, response.status, await response.json()]).toEqual([
          path,
          422,
          { detail: expect.stringContaining('surrogate') as unknown, code: 'invalid_request' },
        ]);
      }
    }
  });

  it('can be written into a state', async () => {
    const { thread_id } = await client.threads.create({ graphId: 'odd' });
    await client.threads.updateState(thread_id, { values: { odd: 'a\ud83db\0c' }, asNode: 'make' });
    const { values } = await client.threads.get<{ odd: unknown }>(thread_id);
    expect(values.odd).toBe(REPLACED);
  });

  it('a state that is nested too deeply ends its run once, with an error', async () => {
    const { thread_id, run, executions } = await ended('nest');
    expect([run.status, run.attempt, executions]).toEqual(['error', 1, 1]);
    expect((await client.threads.get(thread_id)).status).toBe('error');
  });
});
