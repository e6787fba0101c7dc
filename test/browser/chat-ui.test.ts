import type { Page } from 'playwright-core';
import { installApp } from '../support/app';
import { BrowserSite, describeInBrowser } from '../support/browser';
import { buildChatUi } from '../support/browser-pages';
import { Gantry, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';

declare const getComputedStyle: (element: unknown) => { color: string };

const KEY = 'key-of-a-chat-0123456789';
const words = (count: number): string => Array.from({ length: count }, (_, index) => `w${index}`).join(' ');

async function send(page: Page, text: string): Promise<void> {
  await page.getByPlaceholder('Type your message...').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

const shows = (page: Page, text: string): Promise<void> => page.getByText(text, { exact: true }).first().waitFor();

describeInBrowser('the chat of create-agent-chat-app', () => {
  let gantry: Gantry;
  let site: BrowserSite;
  const opened: Page[] = [];

  beforeAll(async () => {
    const [graphs, folder] = await Promise.all([installApp('browser'), buildChatUi()]);
    [gantry, site] = await Promise.all([startGantry({ graphProcesses: 1, graphs }), BrowserSite.open(folder)]);
  }, 600_000);

  afterAll(async () => {
    await site?.close();
    await gantry?.stop();
  });

  afterEach(async () => {
    for (const page of opened.splice(0)) await page.context().close();
  });

  async function open(apiUrl = gantry.url, storage: Record<string, string> = {}): Promise<Page> {
    const page = await site.page('', { apiUrl, assistantId: 'agent' }, storage);
    opened.push(page);
    return page;
  }

  it('shows an answer, and again after a reload', async () => {
    const page = await open();
    await send(page, 'hello');
    await shows(page, 'You said: hello');
    expect(page.url()).toContain('threadId=');
    await page.reload();
    await shows(page, 'You said: hello');
  });

  it('shows an answer as it streams; a reload cancels the run, and the next message continues the conversation', async () => {
    const page = await open();
    await send(page, 'count 400');
    await page.getByText(/w5 w6/).waitFor();
    const { thread_id, runs } = await runsOf(page);
    expect(runs.map(({ status }) => status)).toEqual(['running']);
    await page.reload();
    await shows(page, 'count 400');
    // The client requests the cancellation: it sends on_disconnect "cancel" and doesn't rejoin.
    await waitFor('the end of the run', async () => (await runsOf(page)).runs[0].status === 'interrupted');
    await send(page, 'count 3');
    await shows(page, words(3));
    expect(thread_id).toBe((await runsOf(page)).thread_id);
  });

  it('shows tool calls, and the server’s UI component for one', async () => {
    const page = await open();
    await send(page, 'weather Oslo');
    await shows(page, 'get_weather');
    await shows(page, 'The tool says: Sunny in Oslo');
    const heading = page.getByRole('heading', { name: 'Weather in Oslo' });
    await heading.waitFor();
    // The component's styles apply inside its shadow root only.
    expect(await heading.evaluate((element) => getComputedStyle(element).color)).toBe('rgb(102, 51, 153)');
    await page.getByRole('button', { name: 'Looked 0 times' }).click();
    await page.getByRole('button', { name: 'Looked 1 times' }).waitFor();
    await page.getByRole('button', { name: 'Again' }).click();
    await shows(page, 'You said: Oslo again');
  });

  it('asks in its inbox, also after a reload, and accepts the answer', async () => {
    const page = await open();
    await send(page, 'mail Ada');
    await page.getByRole('button', { name: 'Accept' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Accept' }).click();
    await shows(page, 'The tool says: Sent to Ada');
    await send(page, 'mail Bob');
    await page.getByRole('button', { name: 'Ignore' }).click();
    await shows(page, 'The tool says: Not sent');
  });

  it('goes back to the checkpoint before a message, and switches between the branches', async () => {
    const page = await open();
    await send(page, 'one');
    await shows(page, 'You said: one');
    await send(page, 'two');
    await shows(page, 'You said: two');
    await page.getByText('two', { exact: true }).hover();
    await page.getByRole('button', { name: 'Edit' }).last().click();
    await page.locator('textarea').first().fill('three');
    await page.getByRole('button', { name: 'Submit' }).click();
    await shows(page, 'You said: three');
    expect(await page.getByText('You said: two').count()).toBe(0);
    await shows(page, '2 / 2');
    await page.getByText('2 / 2').first().locator('xpath=preceding-sibling::button').click();
    await shows(page, 'You said: two');
  });

  it('lists the conversations of the agent', async () => {
    const page = await open();
    await page
      .locator('button:visible', { has: page.locator('svg.lucide-panel-right-close') })
      .last()
      .click();
    await page.getByRole('button', { name: 'hello' }).first().click();
    await shows(page, 'You said: hello');
  });

  it('uses an API that requires keys', async () => {
    const apiUrl = await gantry.startReplica({ GANTRY_AUTH: 'on', GANTRY_API_KEY: KEY });
    const page = await open(apiUrl, { 'lg:chat:apiKey': KEY });
    await send(page, 'weather Rome');
    await shows(page, 'The tool says: Sunny in Rome');
    await page.getByRole('heading', { name: 'Weather in Rome' }).waitFor();
  });

  async function runsOf(page: Page) {
    const thread_id = new URL(page.url()).searchParams.get('threadId')!;
    return { thread_id, runs: await gantry.client().runs.list(thread_id) };
  }
});
