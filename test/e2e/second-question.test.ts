import type { Client } from '@langchain/langgraph-sdk';
import { AgentCaller } from '../support/a2a';
import { Gantry, startGantry } from '../support/gantry';
import { describeLanguages } from '../support/languages';
import { connectMcp, ERAS } from '../support/mcp';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

const FIRST = 'How old are you?';
const SECOND = '"old" is no age. How old are you?';

/** A node that repeats its question because the answer was invalid: the library's state names no next node then. */
describeLanguages('a node in $language that asks a second time', ({ graphs }) => {
  let gantry: Gantry;
  let client: Client;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await new WebhookReceiver().start();
    gantry = await startGantry({ graphs, graphProcesses: 1, env: { GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' } });
    client = gantry.client();
  });

  afterAll(async () => {
    await gantry?.stop();
    await receiver?.stop();
  });

  it('keeps its thread waiting until it is answered, and reports so to the webhook', async () => {
    const { thread_id: thread } = await client.threads.create();
    await client.runs.wait(thread, 'examine', { input: {} });
    const command = { resume: 'old' };
    const webhook = receiver.url('/asked');
    const asked = await client.runs.wait(thread, 'examine', { command, webhook });
    expect(asked).toMatchObject({ __interrupt__: [{ value: SECOND }] });
    expect(await client.threads.get(thread)).toMatchObject({ status: 'interrupted' });
    expect(await client.threads.search({ status: 'interrupted', ids: [thread] })).toHaveLength(1);
    const { tasks } = await client.threads.getState(thread);
    expect(tasks).toMatchObject([{ name: 'ask', interrupts: [{ value: SECOND }] }]);
    const { body } = await waitFor('the webhook', () => receiver.received.find(({ path }) => path === '/asked'));
    const delivered = JSON.parse(body) as { interrupts: Record<string, unknown> };
    expect(delivered).toMatchObject({ status: 'success', thread_status: 'interrupted' });
    expect(Object.values(delivered.interrupts)).toMatchObject([[{ value: SECOND }]]);
    expect(await client.runs.wait(thread, 'examine', { command: { resume: '42' } })).toEqual({ age: 42 });
    expect(await client.threads.get(thread)).toMatchObject({ status: 'idle', interrupts: {} });
  });

  it('keeps its thread waiting when the state was edited and the question remains', async () => {
    const { thread_id: thread } = await client.threads.create();
    await client.runs.wait(thread, 'examine', { input: {} });
    await client.runs.wait(thread, 'examine', { command: { resume: 'old' } });
    const copy = await client.threads.copy(thread);
    expect(copy).toMatchObject({ status: 'interrupted' });
  });

  it('asks over the event protocol, and is answered', async () => {
    const thread = client.threads.stream({ assistantId: 'examine' });
    await thread.run.start({ input: {} });
    await thread.output.catch(() => undefined);
    for (const [question, answer] of [
      [FIRST, 'old'],
      [SECOND, '42'],
    ]) {
      await waitFor(question, async () => {
        const { status, interrupts } = await client.threads.get(thread.threadId);
        return status === 'interrupted' && JSON.stringify(interrupts).includes(JSON.stringify(question));
      });
      const { interrupts } = await client.threads.get(thread.threadId);
      const [{ id }] = Object.values(interrupts).flat();
      await thread.input.respond({ namespace: [], interrupt_id: id!, response: answer });
    }
    await waitFor('the end', async () => (await client.threads.get(thread.threadId)).status === 'idle');
    expect((await client.threads.getState(thread.threadId)).values).toEqual({ age: 42 });
    await thread.close();
  });

  it('keeps a task of A2A open, which accepts the next answer', async () => {
    const agent = new AgentCaller(gantry.url, 'examine');
    const asked = await agent.send([{ data: {} }]);
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const more = { taskId: asked.id, contextId: asked.contextId };
    const again = await agent.say('old', more);
    expect(again.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: SECOND }] } });
    const done = await agent.say('42', more);
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(done.artifacts).toMatchObject([{ parts: [{ data: { age: 42 } }] }]);
  });

  it.each(ERAS)('asks the user of an MCP client of %s again', async (era) => {
    const mcp = await connectMcp(gantry.url, { era, capabilities: { elicitation: { form: {} } } });
    const asked: string[] = [];
    mcp.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { answer: asked.length === 1 ? 'old' : '42' } };
    });
    const { structuredContent } = await mcp.callTool({ name: 'examine', arguments: {} });
    expect(asked).toEqual([FIRST, SECOND]);
    expect(structuredContent).toEqual({ age: 42 });
    await mcp.close();
  });

  it('waits after a cron has answered the first question', async () => {
    const { thread_id: thread } = await client.threads.create();
    await client.runs.wait(thread, 'examine', { input: {} });
    await client.runs.wait(thread, 'examine', { command: { resume: 'old' } });
    const cron = await client.crons.createForThread(thread, 'examine', { schedule: '* * * * * *', input: null });
    await waitFor('its run', async () =>
      (await client.runs.list(thread)).some(({ metadata }) => 'cron_id' in (metadata ?? {})),
    );
    await client.crons.delete((cron as unknown as { cron_id: string }).cron_id);
    await waitFor('its end', async () => (await client.threads.get(thread)).status === 'interrupted');
  });
});
