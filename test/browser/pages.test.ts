import { dirname } from 'node:path';
import type { Page } from 'playwright-core';
import { installApp } from '../support/app';
import { BrowserSite, describeInBrowser } from '../support/browser';
import { bundlePages } from '../support/browser-pages';
import { Gantry, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';

const KEY = 'key-of-a-page-0123456789';
const words = (count: number): string => Array.from({ length: count }, (_, index) => `w${index}`).join(' ');

/** A chat of test/apps/browser/pages, used like a person does. */
class Chat {
  constructor(readonly page: Page) {}

  async send(text: string): Promise<void> {
    await this.page.locator('textarea:visible').last().fill(text);
    await this.page.getByRole('button', { name: 'Send' }).click();
  }

  /** Texts of the messages. */
  texts(): Promise<string[]> {
    return this.page
      .locator('li')
      .evaluateAll((items) =>
        items.flatMap((item) =>
          [...(item as unknown as Item).querySelectorAll('p')].map(({ textContent }) => textContent),
        ),
      );
  }

  /** Waits until the page shows no run in flight and exactly these texts. */
  async untilQuiet(texts: string[]): Promise<void> {
    await this.page.locator('main[aria-busy=false]').waitFor();
    await waitFor('the texts', async () => (await this.texts()).join('|') === texts.join('|')).catch(() => undefined);
    expect(await this.texts()).toEqual(texts);
  }

  async untilText(part: string): Promise<void> {
    await this.page.getByText(part).first().waitFor();
  }

  get question() {
    return this.page.locator('dialog pre');
  }
}

declare const getComputedStyle: (element: unknown) => { color: string };

interface Item {
  querySelectorAll(selector: string): Iterable<{ textContent: string }>;
}

describeInBrowser('pages in a browser', () => {
  let gantry: Gantry;
  let site: BrowserSite;
  let pages: { folder: string; remove: () => void };
  /** Address of an api that asks for keys. */
  let apiUrl: string | undefined;
  const opened: Page[] = [];

  beforeAll(async () => {
    const graphs = await installApp('browser');
    [gantry, pages] = await Promise.all([
      startGantry({ graphProcesses: 1, graphs }),
      bundlePages(dirname(graphs), ['runs', 'threads', 'assistant-ui']),
    ]);
    site = await BrowserSite.open(pages.folder);
  }, 300_000);

  afterAll(async () => {
    await site?.close();
    await gantry?.stop();
    pages?.remove();
  });

  afterEach(async () => {
    for (const page of opened.splice(0)) await page.context().close();
  });

  async function open(name: string, query: Record<string, string> = {}): Promise<Chat> {
    const page = await site.page(`${name}.html`, { apiUrl: gantry.url, ...query });
    opened.push(page);
    return new Chat(page);
  }

  describe.each(['runs', 'threads', 'assistant-ui'])('%s', (name) => {
    it('shows an answer as it streams, and again after a reload', async () => {
      const chat = await open(name);
      await chat.send('count 40');
      await chat.untilText('w2');
      await chat.untilQuiet(['count 40', words(40)]);
      await chat.send('hello');
      await chat.untilQuiet(['count 40', words(40), 'hello', 'You said: hello']);
      await chat.page.reload();
      await chat.untilQuiet(['count 40', words(40), 'hello', 'You said: hello']);
    });

    it('shows a tool call', async () => {
      const chat = await open(name);
      await chat.send('weather Oslo');
      await chat.untilText('The tool says: Sunny in Oslo');
      await chat.page.getByText('get_weather').first().waitFor();
    });

    it('asks, also after a reload, and accepts the answer', async () => {
      const chat = await open(name);
      await chat.send('mail Ada');
      await chat.question.waitFor();
      expect(await chat.question.textContent()).toContain('"action":"send_mail"');
      await chat.page.reload();
      await chat.page.getByRole('button', { name: 'Approve' }).click();
      await chat.untilText('The tool says: Sent to Ada');
      await chat.question.waitFor({ state: 'detached' });
    });
  });

  describe.each(['runs', 'threads'])('%s', (name) => {
    it('continues to show a run during which the page was reloaded', async () => {
      const chat = await open(name);
      await chat.send('count 150');
      await chat.untilText('w5');
      await chat.page.reload();
      await chat.untilQuiet(['count 150', words(150)]);
    });

    it('replaces a message by an edited one, from the checkpoint before it', async () => {
      const chat = await open(name);
      await chat.send('one');
      await chat.untilQuiet(['one', 'You said: one']);
      await chat.send('two');
      await chat.untilQuiet(['one', 'You said: one', 'two', 'You said: two']);
      await chat.page.locator('textarea').fill('three');
      await chat.page.getByRole('button', { name: 'Edit' }).last().click();
      await chat.untilQuiet(['one', 'You said: one', 'three', 'You said: three']);
      await chat.page.reload();
      await chat.untilQuiet(['one', 'You said: one', 'three', 'You said: three']);
    });

    it('requires a key where the API does', async () => {
      apiUrl ??= await gantry.startReplica({ GANTRY_AUTH: 'on', GANTRY_API_KEY: KEY });
      const chat = await open(name, { apiUrl, apiKey: KEY });
      await chat.send('hello');
      await chat.untilQuiet(['hello', 'You said: hello']);
      const stranger = await open(name, { apiUrl });
      await stranger.send('hello');
      await stranger.page.locator('strong').waitFor();
    });
  });

  it('show a UI component of the server, with its styles, its state and the conversation around it', async () => {
    const chat = await open('runs');
    await chat.send('weather Oslo');
    const heading = chat.page.getByRole('heading', { name: 'Weather in Oslo' });
    await heading.waitFor();
    expect(await heading.evaluate((element) => getComputedStyle(element).color)).toBe('rgb(102, 51, 153)');
    await chat.page.getByRole('button', { name: 'Looked 0 times' }).click();
    await chat.page.getByRole('button', { name: 'Looked 1 times' }).waitFor();
    await chat.page.reload();
    await heading.waitFor();
    await chat.page.getByRole('button', { name: 'Again' }).click();
    await chat.untilText('You said: Oslo again');
  });

  describe('assistant-ui', () => {
    it('shows the end of a run during which it was reloaded, when it is loaded after that end', async () => {
      const chat = await open('assistant-ui');
      await chat.send('count 150');
      await chat.untilText('w5');
      await chat.page.reload();
      await chat.untilText('count 150');
      const thread = new URL(chat.page.url()).searchParams.get('threadId')!;
      // The library doesn't rejoin runs.
      await waitFor(
        'the end of the run',
        async () => (await gantry.client().runs.list(thread))[0].status === 'success',
      );
      await chat.page.reload();
      await chat.untilQuiet(['count 150', words(150)]);
    });

    it('replaces a message by an edited one, from the checkpoint before it', async () => {
      const chat = await open('assistant-ui');
      await chat.send('one');
      await chat.untilQuiet(['one', 'You said: one']);
      await chat.send('two');
      await chat.untilQuiet(['one', 'You said: one', 'two', 'You said: two']);
      await chat.page.getByRole('button', { name: 'Edit' }).last().click();
      await chat.page.locator('.edit textarea:visible').fill('three');
      await chat.page.getByRole('button', { name: 'Update' }).click();
      await chat.untilQuiet(['one', 'You said: one', 'three', 'You said: three']);
      await chat.page.reload();
      await chat.untilQuiet(['one', 'You said: one', 'three', 'You said: three']);
    });
  });
});
