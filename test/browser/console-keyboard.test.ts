import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser';
import { serveConsole, tabTo } from '../support/console';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'console.json');
const ADMIN_KEY = 'admin-key-of-the-keyboard-0123456789';
const WEATHER = 'What is the weather in Oslo?';
const ask = (content: string) => ({ messages: [{ role: 'user', content }] });

describeInBrowser('the main actions of the console by keyboard alone', () => {
  let receiver: WebhookReceiver;
  let isReceiverUp = false;
  const served = serveConsole({
    graphProcesses: 1,
    graphs: GRAPHS,
    env: { GANTRY_ADMIN_KEY: ADMIN_KEY, GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' },
  });
  const { visit } = served;

  beforeAll(async () => {
    receiver = await new WebhookReceiver((response) => {
      response.writeHead(isReceiverUp ? 200 : 410).end(isReceiverUp ? 'thanks' : 'not yet');
    }).start();
  });

  afterAll(() => receiver?.stop());

  async function press(page: Page, element: Locator): Promise<void> {
    await tabTo(page, element);
    await page.keyboard.press('Enter');
  }

  /** Replaces what a field has. */
  async function type(page: Page, field: Locator, text: string): Promise<void> {
    await tabTo(page, field);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText(text);
  }

  /** Chooses the option of a list whose name begins with the typed text. */
  async function choose(page: Page, list: Locator, option: string): Promise<void> {
    await tabTo(page, list);
    await page.keyboard.type(option);
    await waitFor('the option', async () => (await list.locator('option:checked').textContent())?.startsWith(option));
  }

  const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name, exact: true });

  it('moves between pages, streams an answer, stops a run and approves a question', async () => {
    const page = await visit('/');
    await press(page, page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Playground' }));
    await choose(page, page.getByLabel('Assistant'), 'agent');
    await type(page, page.getByLabel('Message', { exact: true }), WEATHER);
    await page.keyboard.press('Enter');
    await page.getByText(/Here is what I found/).waitFor();

    await choose(page, page.getByLabel('Assistant'), 'pipeline');
    await type(page, page.getByRole('spinbutton').first(), '2000');
    await press(page, button(page, 'Run'));
    await press(page, button(page, 'Stop'));
    const client = served.gantry.client();
    await waitFor('the run to be stopped', async () => {
      const [thread] = await client.threads.search({ metadata: { graph_id: 'pipeline' } });
      const [run] = thread ? await client.runs.list(thread.thread_id) : [];
      return run?.status === 'interrupted';
    });

    await choose(page, page.getByLabel('Assistant'), 'approval');
    await type(page, page.getByRole('spinbutton').first(), '70');
    await press(page, button(page, 'Run'));
    await press(page, page.getByRole('region', { name: 'Question' }).getByRole('button', { name: 'Approve' }));
    await page.getByText('"paid $70"').waitFor();
  });

  it('types an answer with the letters that move, approve and reject beside its editor', async () => {
    const client = served.gantry.client();
    const { thread_id: other } = await client.threads.create();
    await client.runs.wait(other, 'approval', { input: { amount: 5 } });
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'ask_both', { input: {} });
    const page = await visit(`/inbox?thread=${thread_id}`);
    await page.getByRole('region').getByRole('heading', { name: 'Second?' }).waitFor();
    const question = page.getByRole('region', { name: /Question/ });
    const second = question.filter({ has: page.getByRole('heading', { name: 'Second?' }) });
    await press(page, second.getByRole('button', { name: 'Answer' }));
    const editor = second.getByRole('textbox', { name: 'Answer as JSON' });
    await tabTo(page, editor);
    await page.keyboard.type('"a jar, e');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('End');
    await page.keyboard.type(' kraj"');
    expect(await editor.textContent()).toBe('"a jar, e kraj"');
    expect(new URL(page.url()).searchParams.get('thread')).toBe(thread_id);
    expect(await question.count()).toBe(2);
    await press(page, second.getByRole('button', { name: 'Send the answer' }));
    const values = await waitFor('the answer', async () => {
      const asked = await client.threads.get<{ first: string; second: string }>(thread_id);
      return asked.status === 'interrupted' && asked.values.second !== '' && asked.values;
    });
    expect(values).toEqual({ first: '', second: 'a jar, e kraj' });
    await client.threads.delete(thread_id);
    await client.threads.delete(other);
  });

  it('finds a failed run by a filter, and opens it', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    const failed = await client.runs.create(thread_id, 'agent', {
      input: ask(WEATHER),
      config: { recursion_limit: 1 },
    });
    await client.runs.join(thread_id, failed.run_id).catch(() => undefined);
    const page = await visit('/runs');
    await choose(page, page.getByLabel('Status'), 'error');
    await waitFor('the filter', async () => page.url().includes('status=error'));
    await press(page, page.getByRole('link', { name: failed.run_id.slice(0, 8) }));
    await page
      .getByRole('alert')
      .getByText(/Recursion limit/)
      .waitFor();
  });

  it('edits the state of a thread, and forks it', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'agent', { input: ask('Hello there') });
    const page = await visit(`/threads/${thread_id}`);
    await tabTo(page, page.getByRole('tab', { name: 'Conversation' }));
    const checkpoints = page.getByRole('tab', { name: 'Checkpoints' });
    while (!(await checkpoints.getAttribute('aria-selected').then((selected) => selected === 'true'))) {
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
    }
    await press(page, button(page, 'Edit the state'));
    const dialog = page.getByRole('dialog');
    await type(page, dialog.getByLabel('Values'), '{"messages": [{"type": "human", "content": "Written by hand"}]}');
    await press(page, dialog.getByRole('button', { name: 'Save' }));
    await dialog.waitFor({ state: 'detached' });
    await waitFor('the new state', async () => {
      const { values } = await client.threads.getState<{ messages: { content: string }[] }>(thread_id);
      return values.messages.at(-1)?.content === 'Written by hand';
    });
    await press(page, page.getByRole('link', { name: 'Fork in the Playground' }));
    await page.getByText(/continues from checkpoint/).waitFor();
  });

  it('creates a cron and triggers it', async () => {
    const page = await visit('/crons');
    await press(page, button(page, 'New cron').first());
    const dialog = page.getByRole('dialog', { name: 'New cron' });
    await choose(page, dialog.getByLabel('Assistant'), 'agent');
    await type(page, dialog.getByLabel('Schedule'), '0 6 * * *');
    await press(page, dialog.getByRole('button', { name: 'Create' }));
    await dialog.waitFor({ state: 'detached' });
    await press(page, page.getByRole('link', { name: /agent/ }).first());
    await press(page, button(page, 'Trigger'));
    await page.getByRole('table', { name: 'Runs of the cron' }).getByText('manual').waitFor();
  });

  it('sends a delivery again', async () => {
    await served.gantry.client().runs.wait(null, 'agent', { input: ask('Hello'), webhook: receiver.url() });
    await waitFor('the delivery to be given up', async () => {
      const { rowCount } = await served.gantry.sql.query(`SELECT FROM webhook_deliveries WHERE status = 'failed'`);
      return rowCount === 1;
    });
    isReceiverUp = true;
    const page = await visit('/webhooks');
    await press(page, page.getByRole('table', { name: 'Webhook deliveries' }).getByRole('link').first());
    await press(page, button(page, 'Send again'));
    await page.getByText('thanks').waitFor();
  });

  it('edits an item of the store', async () => {
    const { store } = served.gantry.client();
    await store.putItem(['ada'], 'preferences', { language: 'en' });
    const page = await visit('/store');
    await press(page, button(page, 'ada'));
    await press(page, button(page, 'Edit preferences'));
    const dialog = page.getByRole('dialog');
    await type(page, dialog.getByRole('textbox', { name: 'Value' }), '{"language": "nb"}');
    await press(page, dialog.getByRole('button', { name: 'Store', exact: true }));
    await dialog.waitFor({ state: 'detached' });
    await waitFor('the item', async () => (await store.getItem(['ada'], 'preferences'))?.value.language === 'nb');
  });

  it('makes a key, and revokes it', async () => {
    const page = await visit('/settings?tab=keys');
    await type(page, page.getByLabel('Operator’s key'), ADMIN_KEY);
    await page.keyboard.press('Enter');
    await press(page, button(page, 'New key'));
    await type(page, page.getByRole('dialog').getByLabel('Name'), 'of a test');
    await page.keyboard.press('Enter');
    const created = page.getByRole('dialog', { name: 'The new key' });
    await created.getByText(/^gtry_/).waitFor();
    await press(page, created.getByRole('button', { name: 'Close' }));
    await press(page, button(page, 'Revoke of a test'));
    await press(page, button(page, 'Revoke key'));
    await page.getByText('revoked').waitFor();
  });
});
