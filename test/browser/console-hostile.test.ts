import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser';
import { seriousFindings, serveConsole } from '../support/console';
import { main, settled } from '../support/console-pages';
import { waitFor } from '../support/wait-for';

/** Globals of the page. */
declare const document: { documentElement: { scrollWidth: number } };

const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'console-hostile.json');
const WIDTHS = { phone: 390, desktop: 1360 };
/** More than fits anywhere, without a place to break it. */
const LONG = 'unbreakable'.repeat(30);
const RTL = 'مرحبا بالعالم، كيف حالك اليوم؟';
const ODD = `"><img src=x onerror=alert(1)> \u202Egnp-exe 🧪 ${RTL}`;
const THREADS = 10_000;
/** Words of a streamed answer. */
const WORDS = 150;

/** An element of the page. */
interface Place {
  scrollTop: number;
  scrollHeight: number;
}

describeInBrowser('the console with data that nobody would choose', () => {
  const served = serveConsole({ graphProcesses: 1, graphs: GRAPHS, env: { GANTRY_TRACING: 'on' } });

  async function expectFits(page: Page, path: string): Promise<void> {
    for (const [name, width] of Object.entries(WIDTHS)) {
      await page.setViewportSize({ width, height: 844 });
      const scrolled = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([path, name, scrolled <= width]).toEqual([path, name, true]);
      expect([path, name, await seriousFindings(page)]).toEqual([path, name, []]);
    }
  }

  it('keeps its layout with long names without spaces, markup, and text from right to left', async () => {
    const client = served.gantry.client();
    const { assistant_id } = await client.assistants.create({
      graphId: 'talk',
      name: LONG,
      description: ODD,
      metadata: { [LONG]: ODD },
    });
    const { thread_id } = await client.threads.create({ metadata: { [LONG]: LONG, odd: ODD }, graphId: 'prose' });
    const messages = [
      { type: 'human', id: 'a', content: `${LONG}\n${RTL}` },
      {
        type: 'ai',
        id: 'b',
        content: `${LONG}\n\n${RTL}\n\n| ${LONG} | b |\n|---|---|\n| ${ODD} | d |\n\n\`\`\`\n${LONG}\n\`\`\``,
      },
    ];
    await client.threads.updateState(thread_id, { values: { messages }, asNode: 'tell' });
    await client.store.putItem([LONG, ODD], LONG, { [LONG]: ODD, text: LONG });
    const { run_id } = await client.runs.create(thread_id, assistant_id, {
      input: { messages: LONG },
      metadata: { [LONG]: ODD },
      config: { configurable: { langsmith_project: LONG } },
    });
    await client.runs.join(thread_id, run_id).catch(() => undefined);
    const broken = await client.runs.create(thread_id, 'rounds', {
      input: { [LONG]: ODD },
      config: { recursion_limit: 1 },
    });
    await client.runs.join(thread_id, broken.run_id).catch(() => undefined);
    await served.gantry.sql.query(
      `UPDATE runs SET error = jsonb_set(error::jsonb, '{message}', to_jsonb($2::text)) WHERE run_id = $1`,
      [broken.run_id, LONG + ODD],
    );
    const namespace = new URLSearchParams({ namespace: JSON.stringify([LONG, ODD]) }).toString();
    const paths = [
      '/assistants',
      `/assistants/${assistant_id}`,
      `/playground?assistant=${assistant_id}&thread=${thread_id}`,
      `/threads`,
      `/threads/${thread_id}`,
      `/threads/${thread_id}?tab=checkpoints`,
      `/threads/${thread_id}?tab=about`,
      '/runs',
      `/runs/${run_id}`,
      `/runs/${run_id}?tab=graph`,
      `/runs/${broken.run_id}`,
      '/traces',
      '/traces/all',
      `/store?${namespace}`,
      '/protocols',
    ];
    for (const path of paths) {
      const page = await served.visit(path);
      await settled(page);
      await expectFits(page, path);
    }
  });

  it('writes text from right to left in its own direction', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create({ graphId: 'prose' });
    const messages = [
      { type: 'human', id: 'a', content: RTL },
      { type: 'ai', id: 'b', content: `Left to right.\n\n${RTL}` },
    ];
    await client.threads.updateState(thread_id, { values: { messages }, asNode: 'tell' });
    const page = await served.visit(`/threads/${thread_id}`);
    const texts = main(page).getByText(RTL);
    // Until the code for Markdown is loaded, an answer is one text.
    await main(page).locator('.markdown p').nth(1).waitFor();
    for (const text of await texts.all()) {
      // The first letter is at the right edge.
      const place = await text.evaluate((element) => {
        const range = (element as unknown as Element).ownerDocument.createRange();
        range.setStart((element as unknown as Element).firstChild, 0);
        range.setEnd((element as unknown as Element).firstChild, 1);
        const [letter, box] = [range.getBoundingClientRect(), (element as unknown as Element).getBoundingClientRect()];
        return { fromLeft: letter.left - box.left, fromRight: box.right - letter.right };
      });
      expect(place.fromRight).toBeLessThan(place.fromLeft);
    }
  });

  it('says why a filter is not applied', async () => {
    const says = async (page: Page, label: string, text: string, problem: string | RegExp): Promise<void> => {
      const field = page.getByLabel(label);
      await field.fill(text);
      await page.getByRole('search').getByText(problem).waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      expect(await seriousFindings(page)).toEqual([]);
      await field.fill('');
      await page.getByRole('search').getByText(problem).waitFor({ state: 'detached' });
    };
    const threads = await served.visit('/threads');
    await settled(threads);
    await says(threads, 'Thread id', '0190', 'Paste a whole id');
    await says(threads, 'Metadata', '{"a": ', /JSON/);
    await says(threads, 'Values', '["a"]', 'Write a JSON object: {"key": "value"}');
    const runs = await served.visit('/runs');
    await settled(runs);
    await says(runs, 'Metadata', '{"a": ', /JSON/);
    await says(runs, 'Metadata', '["a"]', 'Write a JSON object: {"key": "value"}');
  });

  it('lists 10,000 threads, of which it renders those in sight', async () => {
    await served.gantry.sql.query(
      `INSERT INTO threads SELECT (jsonb_populate_record(NULL::threads, to_jsonb(t) || jsonb_build_object(
          'thread_id', gen_random_uuid(), 'updated_at', t.updated_at - n * interval '1 second',
          'created_at', t.created_at - n * interval '1 second'))).*
        FROM (SELECT * FROM threads LIMIT 1) t, generate_series(1, $1::int) n`,
      [THREADS],
    );
    const page = await served.visit('/threads');
    const table = page.getByRole('table', { name: 'Threads' });
    await main(page)
      .getByText(/^10,0\d\d$/)
      .waitFor();
    const lastIndex = async (): Promise<number> =>
      Number(await table.getByRole('row').last().getAttribute('aria-rowindex'));
    await waitFor('row 1,000', async () => {
      await table.evaluate((element) => {
        const place = element as unknown as Place;
        place.scrollTop = place.scrollHeight;
      });
      return (await lastIndex()) > 1_000;
    });
    expect(await table.getByRole('row').count()).toBeLessThan(80);
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('resumes its streams when the api is started again in the middle of a run', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create({ graphId: 'prose' });
    await client.threads.updateState(thread_id, {
      values: { messages: [], words: WORDS, letter_ms: 25 },
      asNode: 'tell',
    });
    const page = await served.browser.open(
      `${served.gantry.url}/console/playground?assistant=prose&thread=${thread_id}`,
    );
    await page.getByLabel('Message', { exact: true }).fill('Tell me');
    await page.keyboard.press('Enter');
    const conversation = page.getByRole('list', { name: 'Conversation' });
    await conversation.getByText(/\bw10\b/).waitFor();
    const [{ run_id }] = await client.runs.list(thread_id);
    const events = await served.browser.open(`${served.gantry.url}/console/runs/${run_id}?tab=events`);
    const list = events.getByRole('region', { name: 'Events', exact: true });
    await list.getByRole('listitem').first().waitFor();
    // The proxy of a server that is away answers in its place.
    let isAway = true;
    const words = '<html><h1>Bad Gateway</h1></html>';
    for (const each of [page, events])
      await each.route(
        ({ pathname }) => !pathname.startsWith('/console'),
        (route) => (isAway ? route.fulfill({ status: 502, contentType: 'text/html', body: words }) : route.continue()),
      );
    await served.gantry.killApi();
    await page.getByText(/connection to the server is lost/).waitFor();
    expect(await page.getByText('Bad Gateway').count()).toBe(0);
    await served.gantry.startApi();
    isAway = false;
    await page.getByText(/connection to the server is lost/).waitFor({ state: 'detached' });
    await conversation.getByText(new RegExp(`\\bw${WORDS - 1}\\b`)).waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await main(page).getByRole('alert').count()).toBe(0);
    // One for each word at least.
    await waitFor('the last events', async () => {
      return Number(await list.getByRole('listitem').first().getAttribute('aria-setsize')) > WORDS;
    });
    expect(await list.getByRole('alert').count()).toBe(0);
    await list.getByText(/^The newest \d+ of [\d,]+$/).waitFor();
  });

  describe('through a proxy that answers some requests in the place of the server', () => {
    const refusal = { status: 503, contentType: 'text/html', body: '<html><h1>Service Unavailable</h1></html>' };

    it('shows the error of the one that fails, and reads each at its own interval', async () => {
      const page = await served.browser.open('about:blank');
      let refused = 0;
      await page.route('**/runs/overview', (route) => {
        refused += 1;
        return route.fulfill(refusal);
      });
      await page.goto(`${served.gantry.url}/console/`);
      await main(page).getByRole('alert').first().waitFor();
      const since = Date.now();
      await waitFor('ten seconds without a lost connection', async () => {
        expect(await page.getByText(/connection to the server is lost/).count()).toBe(0);
        return Date.now() - since > 10_000;
      });
      // Home reads it every four seconds.
      expect(refused).toBeLessThan(6);
      await page.unrouteAll({ behavior: 'wait' });
    });

    it('reads a page again at ever longer intervals while every second one fails', async () => {
      const page = await served.browser.open(`${served.gantry.url}/console/`);
      await settled(page);
      let requests = 0;
      await page.route(
        ({ pathname }) => !pathname.startsWith('/console'),
        (route) => {
          requests += 1;
          return requests % 2 === 0 ? route.fulfill(refusal) : route.continue();
        },
      );
      const since = Date.now();
      await waitFor('twenty seconds', () => Date.now() - since > 20_000);
      // A page that reads everything again whenever a request succeeds sends thousands.
      expect(requests).toBeLessThan(150);
      await page.unrouteAll({ behavior: 'wait' });
    });
  });

  it('plays, draws and steps through a graph in Python', async () => {
    const page = await served.browser.open(`${served.gantry.url}/console/playground?assistant=recite`);
    await page.getByLabel('Message', { exact: true }).fill('Tell me');
    await page.keyboard.press('Enter');
    await page
      .getByRole('list', { name: 'Conversation' })
      .getByText(/\bw59\b/)
      .waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await seriousFindings(page)).toEqual([]);
    const thread = new URL(page.url()).searchParams.get('thread')!;
    const [{ run_id }] = await served.gantry.client().runs.list(thread);
    await page.goto(`${served.gantry.url}/console/runs/${run_id}`);
    await page.getByRole('list', { name: 'Steps' }).getByText('tell').waitFor();
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.locator('.react-flow__node.taken').getByText('tell', { exact: true }).waitFor();
  });

  it('shows what it has while the network is slow', async () => {
    const page = await served.browser.open('about:blank');
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 400,
      downloadThroughput: 60_000,
      uploadThroughput: 30_000,
    });
    await page.goto(`${served.gantry.url}/console/threads`);
    await page.getByRole('heading', { name: 'Threads' }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('table', { name: 'Threads' }).getByRole('link').first().waitFor();
  });
});

/** An element of the page, as far as it is measured. */
interface Element {
  ownerDocument: { createRange(): Range };
  firstChild: unknown;
  getBoundingClientRect(): { left: number; right: number };
}
interface Range {
  setStart(node: unknown, offset: number): void;
  setEnd(node: unknown, offset: number): void;
  getBoundingClientRect(): { left: number; right: number };
}
