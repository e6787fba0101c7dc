import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser';
import { ConsoleBrowser, seriousFindings, takePicture } from '../support/console';
import { type Gantry, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

/** Global of the page. */
declare const document: { documentElement: { scrollWidth: number } };

const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'console.json');
const TEMPORAL_UI = 'http://temporal.test:8233';
const PHONE_WIDTH = 390;
/** How long a page that was loaded again may take to show its choices. */
const CHOICES_MS = 15_000;

/** Pages that are empty on a new server, and how the page says that something gets there. */
const EMPTY: [path: string, hint: RegExp][] = [
  ['/playground', /Send a message to begin a thread/],
  ['/threads', /Begin a conversation in the Playground/],
  ['/runs', /Send a message in the Playground/],
  ['/inbox', /A run that calls interrupt\(\) stops and asks here/],
  ['/traces', /LANGSMITH_TRACING=true/],
  ['/traces/all', /Choose a longer window/],
  ['/exports', /An export writes the traces of a project/],
  ['/exports?tab=destinations', /A destination is a bucket/],
  ['/crons', /A cron runs an assistant on a schedule/],
  ['/store', /Graphs put what they remember over threads into the store/],
  ['/webhooks', /is posted to that URL when it ends/],
  ['/assistants?name=nobody', /Each graph of langgraph.json has an assistant/],
];

/** Every page, by the name of what it shows; `{…}` is the id of a thing that the test made. */
const PAGES = {
  Home: '/',
  Playground: '/playground?assistant=agent',
  Threads: '/threads',
  'a thread': '/threads/{thread}',
  Runs: '/runs',
  'a run': '/runs/{run}',
  'Interrupt inbox': '/inbox',
  Traces: '/traces',
  'a project': '/traces/{project}',
  'runs of all projects': '/traces/all',
  'a trace': '/traces/{project}/{trace}',
  Exports: '/exports',
  'an export': '/exports/{export}',
  Crons: '/crons',
  'a cron': '/crons/{cron}',
  Store: '/store',
  Webhooks: '/webhooks',
  'a delivery': '/webhooks/{delivery}',
  Assistants: '/assistants',
  'an assistant': '/assistants/{assistant}',
  'A2A and MCP': '/protocols',
  Settings: '/settings',
  System: '/system',
};
type PageName = keyof typeof PAGES;
const NAMES = Object.keys(PAGES) as PageName[];

/** Pages that show when something happened. */
const WITH_TIMES: PageName[] = [
  ...(['Threads', 'Runs', 'a run', 'Traces', 'a project', 'runs of all projects', 'Exports'] as const),
  ...(['an export', 'Crons', 'a cron', 'Store', 'Webhooks', 'a delivery', 'Interrupt inbox'] as const),
];
/** Pages of which this test makes the pictures for docs/console.md, with the name of the file. */
const PICTURES: Partial<Record<PageName, string>> = {
  'a project': 'project',
  Crons: 'crons',
  Store: 'store',
  Webhooks: 'webhooks',
  Assistants: 'assistants',
  'A2A and MCP': 'protocols',
  Settings: 'settings',
  System: 'system',
};
/** Pages without data of a tenant. */
const PUBLIC: PageName[] = ['System'];
/** Pages of one thing that is named in the address. */
const OF_ONE: PageName[] = ['a thread', 'a run', 'a project', 'an export', 'a cron', 'a delivery', 'an assistant'];

describeInBrowser('every page of the console', () => {
  let gantry: Gantry;
  let browser: ConsoleBrowser;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await new WebhookReceiver().start();
    [gantry, browser] = await Promise.all([
      startGantry({
        graphProcesses: 1,
        graphs: GRAPHS,
        env: {
          GANTRY_TRACING: 'on',
          GANTRY_TEMPORAL_UI_URL: TEMPORAL_UI,
          GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
        },
      }),
      ConsoleBrowser.launch(),
    ]);
  }, 300_000);

  afterAll(async () => {
    await browser?.close();
    await gantry?.stop();
    await receiver?.stop();
  });

  afterEach(async () => {
    expect(await browser.closePages()).toEqual([]);
  });

  const main = (page: Page): Locator => page.locator('#content');
  /** Resolves when the page has shown its first answers. */
  async function settled(page: Page): Promise<void> {
    await main(page).getByRole('heading', { level: 1 }).waitFor();
    await waitFor('the content', async () => (await page.getByRole('status', { name: 'Loading' }).count()) === 0);
  }
  async function open(path: string): Promise<Page> {
    const page = await browser.open(`${gantry.url}/console${path}`);
    await settled(page);
    return page;
  }

  it.each(EMPTY)('%s says how to get something there while it is empty', async (path, hint) => {
    const page = await open(path);
    await main(page).getByText(hint).first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  describe('with something of each kind', () => {
    const ids: Record<string, string> = {};
    const pathOf = (name: PageName): string => PAGES[name].replace(/\{(\w+)\}/g, (_, kind: string) => ids[kind]);

    beforeAll(async () => {
      const client = gantry.client();
      const input = { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] };
      const { thread_id } = await client.threads.create();
      const { run_id } = await client.runs.create(thread_id, 'agent', { input, webhook: receiver.url() });
      await client.runs.join(thread_id, run_id);
      for (const amount of [120, 45]) {
        const waiting = await client.threads.create();
        await client.runs.wait(waiting.thread_id, 'approval', { input: { amount } });
      }
      const cron = await client.crons.create('agent', { schedule: '0 6 * * *', input });
      await client.store.putItem(['users', 'ada'], 'preferences', { language: 'en' });
      const [assistant] = await client.assistants.search({ graphId: 'agent' });
      const traced = await waitFor('the trace of the run', async () => {
        const { rows } = await gantry.sql.query<{ project_id: string; trace_id: string }>(
          `SELECT r.project_id, r.trace_id FROM trace_runs r JOIN trace_projects p USING (project_id)
            WHERE p.name = 'agent' AND r.parent_run_id IS NULL AND r.end_time IS NOT NULL`,
        );
        return rows[0];
      });
      const delivery = await waitFor('the delivery', async () => {
        const { rows } = await gantry.sql.query<{ delivery_id: string }>(
          `SELECT delivery_id FROM webhook_deliveries WHERE status = 'delivered'`,
        );
        return rows[0];
      });
      const { rows: exports } = await gantry.sql.query<{ export_id: string }>(
        `WITH d AS (
           INSERT INTO export_destinations (tenant_id, destination_id, destination_type, display_name, config, credentials_keys)
           SELECT tenant_id, gen_random_uuid(), 's3', 'Lake', '{"prefix": ""}', '{}' FROM tenants
           RETURNING tenant_id, destination_id)
         INSERT INTO bulk_exports (tenant_id, export_id, destination_id, start_time, end_time, format_version, compression,
           status, finished_at, all_experiments)
         SELECT tenant_id, gen_random_uuid(), destination_id, '2026-01-01Z', '2026-01-02Z', 'v2_beta', 'none', 'Failed', now(), true
           FROM d RETURNING export_id`,
      );
      Object.assign(ids, {
        thread: thread_id,
        run: run_id,
        cron: cron.cron_id,
        project: traced.project_id,
        trace: traced.trace_id,
        delivery: delivery.delivery_id,
        export: exports[0].export_id,
        assistant: assistant.assistant_id,
      });
    });

    /** What a reader has chosen on the page: its filters, tabs and selected entries. */
    const choices = (page: Page): Promise<string[]> =>
      main(page)
        .locator(
          'header select, [role=search] select, [role=search] input, [role=tab][aria-selected=true], [aria-current=true], [role=treeitem][aria-selected=true]',
        )
        .evaluateAll((elements) =>
          elements.map((each) => {
            const { value, checked, textContent } = each as unknown as Control;
            return value === undefined ? textContent : `${value} ${checked ?? ''}`;
          }),
        );

    it.each(NAMES)('%s has its state in the address', async (name) => {
      const page = await open(pathOf(name));
      const before = await choices(page);
      await choose(page);
      await settled(page);
      const chosen = await choices(page);
      if (before.length > 0 && chosen.join() !== before.join()) {
        await waitFor('the address', async () => new URL(page.url()).search !== '');
      }
      await page.reload();
      await settled(page);
      const isSame = async (): Promise<boolean> => (await choices(page)).join('\n') === chosen.join('\n');
      await waitFor('the same choices', isSame, CHOICES_MS).catch(() => undefined);
      expect(await choices(page)).toEqual(chosen);
    });

    /** Changes every filter, and opens the last of all tabs and entries. */
    async function choose(page: Page): Promise<void> {
      for (const select of await main(page).locator('header select, [role=search] select').all()) {
        const options = await select.locator('option').count();
        if (options > 1) await select.selectOption({ index: options - 1 });
      }
      const inputs = await main(page).locator('[role=search] input:not([type=checkbox])').all();
      for (const [index, input] of inputs.entries()) {
        const isFilter = (await input.getAttribute('role')) === 'combobox';
        const text = isFilter ? 'neq(name, "nobody")' : `a${index}`;
        await input.fill(text);
        if (isFilter) await input.press('Enter');
        await waitFor('the filter in the address', async () =>
          [...new URL(page.url()).searchParams.values()].includes(text),
        );
      }
      for (const box of await main(page).locator('[role=search] input[type=checkbox]').all()) await box.check();
      const tabs = main(page).getByRole('tab');
      if ((await tabs.count()) > 0) await tabs.last().click();
      const entries = main(page).locator('[role=treeitem], ol[aria-label=Waiting] button, li > button[aria-current]');
      if ((await entries.count()) > 1) await entries.last().click();
    }

    it.each(NAMES)(
      '%s shows its API call by keyboard, times with the exact ones on hover, is readable in dark mode, and fits a phone',
      async (name) => {
        const page = await open(pathOf(name));
        const picture = PICTURES[name];
        if (picture) await takePicture(page, picture);
        await showsItsCall(page);
        if (WITH_TIMES.includes(name)) await showsTimes(page);
        await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
        expect(await seriousFindings(page, ['color-contrast'])).toEqual([]);
        await page.emulateMedia({ colorScheme: 'light' });
        await page.setViewportSize({ width: PHONE_WIDTH, height: 844 });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE_WIDTH);
        expect(await seriousFindings(page)).toEqual([]);
      },
    );

    async function showsItsCall(page: Page): Promise<void> {
      const button = page.getByRole('button', { name: 'Show the API call' });
      await waitFor('the focus on the button', async () => {
        await page.keyboard.press('Tab');
        return button.evaluate((element) => element === (element as unknown as Node).ownerDocument.activeElement);
      });
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'API call' });
      const parts = { curl: 'curl ', JavaScript: 'await ', Python: 'import ' };
      await dialog.getByRole('tab', { name: 'curl' }).focus();
      for (const [language, part] of Object.entries(parts)) {
        await dialog.getByRole('tab', { name: language, selected: true }).waitFor();
        const code = await dialog.getByRole('tabpanel', { name: language }).locator('pre').textContent();
        expect(code).toContain(part);
        expect(code).toContain(gantry.url);
        await page.keyboard.press('ArrowRight');
        await page.keyboard.press('Enter');
      }
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await waitFor('the focus on the button again', async () =>
        button.evaluate((element) => element === (element as unknown as Node).ownerDocument.activeElement),
      );
    }

    async function showsTimes(page: Page): Promise<void> {
      const times = main(page).locator('time');
      await times.first().waitFor();
      for (const time of await times.all()) {
        expect(await time.textContent()).toMatch(/^(now|in \d+ \w+|\d+ \w+ ago)$/);
        expect(await time.getAttribute('title')).toMatch(/20\d\d.*\d+:\d\d:\d\d/);
        expect(await time.getAttribute('datetime')).toMatch(/^20\d\d-.*Z$/);
      }
    }

    it.each(NAMES.filter((name) => !PUBLIC.includes(name)))('%s says what the server said', async (name) => {
      const page = await browser.open('about:blank');
      // Names another tenant than the caller's, which the server refuses.
      await page.route(
        (url) => url.origin === gantry.url && !url.pathname.startsWith('/console'),
        (route) => route.continue({ headers: { ...route.request().headers(), 'x-tenant-id': randomUUID() } }),
      );
      await page.goto(`${gantry.url}/console${pathOf(name)}`);
      const alert = main(page).getByRole('alert').first();
      await alert.getByText('X-Tenant-Id names a workspace').waitFor();
      await alert.getByText('403').waitFor();
      expect(await seriousFindings(page)).toEqual([]);
    });

    it.each(OF_ONE)('the page of %s says that there is none of that id', async (name) => {
      const page = await browser.open(
        `${gantry.url}/console${PAGES[name].replace(/\{\w+\}/, '019a0000-0000-7000-8000-000000000000')}`,
      );
      await main(page).getByRole('alert').first().getByText('404').waitFor();
    });

    it.each(['a thread', 'a run', 'a trace', 'a cron', 'a delivery', 'an export'] as const)(
      '%s leads to Temporal’s own UI',
      async (name) => {
        const page = await open(pathOf(name));
        const link = page.getByRole('link', { name: 'Temporal' });
        const ofRun = ['a thread', 'a trace'].includes(name) ? `run-${ids.run}` : '';
        expect(await link.getAttribute('href')).toMatch(new RegExp(`^${TEMPORAL_UI}/.*workflows/${ofRun}`));
      },
    );

    it('finds runs of several projects by one filter', async () => {
      const page = await open('/traces');
      await page.getByRole('link', { name: 'Runs of all projects' }).click();
      const runs = page.getByRole('table', { name: 'Traced runs' });
      await runs.getByRole('link', { name: 'approval' }).first().waitFor();
      await runs.getByRole('link', { name: 'agent', exact: true }).waitFor();
      const filter = page.getByRole('combobox', { name: 'Filter' });
      await filter.fill('eq(name, "agent")');
      await filter.press('Enter');
      await runs.getByRole('link', { name: 'approval' }).first().waitFor({ state: 'detached' });
      await filter.fill('');
      await filter.press('Enter');
      await page.getByLabel('Projects with this in their name').fill('appro');
      await runs.getByRole('link', { name: 'agent', exact: true }).waitFor({ state: 'detached' });
      await page.reload();
      await runs.getByRole('link', { name: 'approval' }).first().click();
      await page.getByRole('treeitem', { name: /approval/ }).waitFor();
    });
  });
});

interface Control {
  value?: string;
  checked?: boolean;
  textContent: string;
}

interface Node {
  ownerDocument: { activeElement: unknown };
}
