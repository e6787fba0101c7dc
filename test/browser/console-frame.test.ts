import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page, Request } from 'playwright-core';
import { describeInBrowser } from '../support/browser';
import { seriousFindings, serveConsole } from '../support/console';
import { temporaryConfig } from '../support/langgraph-json';
import { expectSoon, waitFor } from '../support/wait-for';

/** Storage of the page. */
declare const localStorage: object;
declare const dispatchEvent: (event: Event) => void;

const CUSTOM_AUTH = join(__dirname, '..', 'support', 'auth', 'langgraph.json');
const KEY = 'key-of-the-console-0123456789';
/** Code, styles and answers that the first page loads, as they are sent. */
const FIRST_PAGE_BYTES = 200 * 1024;

/** A colour of the theme, for each scheme. */
const PAIR = /^\s*--color-[\w-]+: light-dark\(#\w+, #\w+\);$/;

describeInBrowser('the frame of the console', () => {
  const served = serveConsole({ workers: 0, graphProcesses: 1 });

  it('is small, and served at any address below /console, in every spelling', async () => {
    for (const path of ['/console', '/console/', '/console/?x=1']) {
      const page = await served.browser.open(served.gantry.url + path);
      await page.getByRole('heading', { name: 'Home' }).waitFor();
    }
    const page = await served.browser.open('about:blank');
    const sent: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      // Fonts don't count as code: text is shown before they load, in the system's font.
      if (request.resourceType() !== 'font') {
        sent.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
      }
    });
    await page.goto(`${served.gantry.url}/console`, { waitUntil: 'networkidle' });
    const bytes = (await Promise.all(sent)).reduce((sum, each) => sum + each, 0);
    expect(bytes).toBeGreaterThan(50 * 1024);
    expect(bytes).toBeLessThan(FIRST_PAGE_BYTES);
    await page.goto(`${served.gantry.url}/console/no/such/page`);
    await page.getByText('There is no such page').waitFor();
  });

  it('contacts no other host, complies with its policy, and has no serious axe finding, in light and dark mode', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await served.browser.open('about:blank', { colorScheme });
      const hosts = new Set<string>();
      page.on('request', (request) => hosts.add(new URL(request.url()).host));
      await page.goto(`${served.gantry.url}/console`);
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await page.getByRole('button', { name: 'Show the API call' }).click();
      await page.getByRole('dialog', { name: 'API call' }).getByRole('tab', { name: 'Python' }).click();
      await page.getByText('import httpx').waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect([...hosts]).toEqual([new URL(served.gantry.url).host]);
    }
  });

  it('reports a lost connection, and refreshes its content when the connection is back', async () => {
    const page = await served.open('');
    await page.getByText('v0.1.0').waitFor();
    await page.context().setOffline(true);
    await page.evaluate(() => dispatchEvent(new Event('visibilitychange')));
    await page.getByText(/connection to the server is lost/).waitFor();
    const again = page.waitForRequest((request) => request.url().endsWith('/info'));
    await page.context().setOffline(false);
    await page.getByText(/connection to the server is lost/).waitFor({ state: 'detached' });
    await again;
  });

  it('keeps the letters that are typed in a filter while the address takes those before them', async () => {
    const page = await served.open('/threads');
    const field = page.getByLabel('Metadata');
    await field.evaluate((element) => {
      const input = element as unknown as object & { dispatchEvent: (event: Event) => void };
      const type = (text: string): void => {
        // React overlooks a value that is set on the element itself.
        Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value')!.set!.call(input, text);
        input.dispatchEvent(new Event('input', { bubbles: true }));
      };
      type('{"a": 1');
      // The field's own timer, which applies the text, is set by then.
      queueMicrotask(() => queueMicrotask(() => void setTimeout(() => type('{"a": 1}'), 300)));
    });
    await waitFor('the filter in the address', () => new URL(page.url()).searchParams.get('metadata') === '{"a": 1}');
    expect(await field.inputValue()).toBe('{"a": 1}');
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Threads' }).click();
    await expectSoon(() => field.inputValue(), '');
  });

  it('asks for the key where the server requires one, explains a wrong one, and forgets it with the tab', async () => {
    const url = await served.gantry.startReplica({ GANTRY_AUTH: 'on', GANTRY_API_KEY: KEY });
    const page = await served.browser.open(`${url}/console`);
    await page.getByLabel('API key').fill('gantry-wrong-key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('401').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('API key').fill(KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(KEY);
    await page.getByRole('button', { name: 'Forget the key of this tab' }).click();
    await page.getByRole('heading', { name: 'Sign in to Gantry' }).waitFor();
  });

  it('stays signed in where the metrics need a token of their own, and says that they do', async () => {
    const url = await served.gantry.startReplica({ GANTRY_METRICS_TOKEN: 'token-of-the-metrics-0123456789' });
    const page = await served.browser.open('about:blank');
    const refused = page.waitForResponse(
      (response) => response.url().includes('/metrics') && response.status() === 401,
    );
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const count = (path: string): number => asked.filter((each) => each === path).length;
    await page.goto(`${url}/console`);
    await refused;
    await page.getByText('needs the metrics token').waitFor();
    await waitFor('the third look at the runs', () => count('/runs/overview') >= 3);
    expect([count('/metrics'), count('/api/v1/me')]).toEqual([1, 0]);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.goto(`${url}/console/system`);
    await page.getByText(/GANTRY_METRICS_TOKEN/).waitFor();
  });

  it('leaves out the pages whose routes are not served', async () => {
    const config = temporaryConfig({ http: { disable_assistants: true } });
    const page = await served.browser.open(
      `${await served.gantry.startReplica({ GANTRY_CONFIG: config.path })}/console/protocols`,
    );
    const link = (name: string): Locator => page.getByRole('navigation').getByRole('link', { name });
    await link('Threads').waitFor();
    await link('Assistants').waitFor({ state: 'detached' });
    expect(await link('Playground').count()).toBe(0);
    // Agents are chosen from the list of assistants; tools are not.
    expect(await page.getByRole('tab').allTextContents()).toEqual(['Tools (MCP)']);
    config.remove();
  });

  describe('with a custom auth module', () => {
    let url: string;
    beforeAll(async () => {
      url = await served.gantry.startReplica({ GANTRY_AUTH: 'on', GANTRY_CONFIG: CUSTOM_AUTH });
    });

    const isOf = (user: string, request: Request): boolean => request.headers().authorization === `Bearer ${user}`;

    async function threadOf(user: string): Promise<string> {
      const headers = { authorization: `Bearer ${user}`, 'content-type': 'application/json' };
      const answer = await fetch(`${url}/threads`, { method: 'POST', headers, body: '{}' });
      return ((await answer.json()) as { thread_id: string }).thread_id;
    }

    async function signIn(page: Page, user: string): Promise<void> {
      await page.getByLabel('Bearer token').fill(user);
      await page.getByRole('button', { name: 'Sign in' }).click();
    }

    it('signs in with a token, and shows what its user may see', async () => {
      const [mine, other] = [await threadOf('alice'), await threadOf('bob')];
      const page = await served.browser.open(`${url}/console`);
      await signIn(page, 'nobody');
      await page.getByRole('alert').getByText('401').waitFor();
      await signIn(page, 'alice');
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      await page.getByRole('link', { name: 'Threads' }).click();
      const threads = page.getByRole('table', { name: 'Threads' });
      await threads.getByTitle(mine).waitFor();
      expect(await threads.getByTitle(other).count()).toBe(0);
    });

    it('shows a user nothing of the one before, and stays signed in when that one is refused late', async () => {
      const [before, after] = [await threadOf('ann'), await threadOf('ben')];
      const page = await served.browser.open(`${url}/console/threads?metadata={}`);
      await signIn(page, 'ann');
      expect(new URL(page.url()).search).not.toBe('');
      const threads = page.getByRole('table', { name: 'Threads' });
      await threads.getByTitle(before).waitFor();
      const [late, shown] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      await page.route('**/threads/count', async (route) => {
        if (!isOf('ann', route.request())) return route.continue();
        await late.promise;
        return route.fulfill({ status: 401 });
      });
      await page.route('**/threads/search', async (route) => {
        if (isOf('ben', route.request())) await shown.promise;
        await route.continue();
      });
      await page.route('**/api/v1/me', (route) =>
        isOf('ann', route.request()) ? route.fulfill({ status: 401 }) : route.continue(),
      );
      const counted = page.waitForRequest('**/threads/count');
      await page.getByLabel('Status').selectOption('idle');
      await counted;
      await page.getByRole('button', { name: 'Forget the key of this tab' }).click();
      const searched = page.waitForRequest((request) => request.url().endsWith('/search') && isOf('ben', request));
      await signIn(page, 'ben');
      await searched;
      await page.getByRole('heading', { name: 'Threads' }).waitFor();
      expect(new URL(page.url()).search).toBe('');
      expect(await page.getByTitle(before).count()).toBe(0);
      shown.resolve();
      await threads.getByTitle(after).waitFor();

      const refused = page.waitForResponse((response) => response.url().endsWith('/me') && response.status() === 401);
      late.resolve();
      await refused;
      await page.getByRole('link', { name: 'Runs' }).click();
      await page.getByRole('heading', { name: 'Runs' }).waitFor();
    });

    it('keeps what a user has entered whose token expires, until another user signs in', async () => {
      const page = await served.browser.open(`${url}/console/crons`);
      await signIn(page, 'ann');
      await page.getByRole('button', { name: 'New cron' }).first().click();
      const dialog = page.getByRole('dialog', { name: 'New cron' });
      await dialog.getByLabel('Schedule').fill('1 2 3 4 5');
      const expire = () =>
        page.route(
          ({ pathname }) => !pathname.startsWith('/console'),
          (route) => route.fulfill({ status: 401 }),
        );
      await expire();
      await page.getByRole('heading', { name: 'Sign in to Gantry' }).waitFor();
      expect(await dialog.isVisible()).toBe(false);
      expect(await seriousFindings(page)).toEqual([]);
      await page.unrouteAll({ behavior: 'wait' });
      await signIn(page, 'ann');
      await dialog.waitFor();
      expect(await dialog.getByLabel('Schedule').inputValue()).toBe('1 2 3 4 5');

      await expire();
      await page.getByRole('heading', { name: 'Sign in to Gantry' }).waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await signIn(page, 'ben');
      await page.getByText('No crons yet').waitFor();
      expect(await page.getByLabel('Schedule').count()).toBe(0);
    });
  });

  it('changes colours alone with the colour scheme', () => {
    const source = join(__dirname, '..', '..', 'console', 'src');
    const lines = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(css|tsx?)$/.test(file))
      .flatMap((file) => readFileSync(join(source, file), 'utf8').split('\n'));
    // Every use of the scheme is a pair of colours, or the choice of the scheme itself.
    expect(lines.filter((line) => line.includes('light-dark(#') && !PAIR.test(line))).toEqual([
      expect.stringContaining('--shadow-pop:'),
    ]);
    const others = lines.filter((line) => /prefers-color-scheme|color-scheme:|data-theme|\bdark:\w/.test(line));
    expect(others.map((line) => line.trim())).toEqual([
      'color-scheme: light dark;',
      ":root[data-theme='light'] {",
      'color-scheme: light;',
      ":root[data-theme='dark'] {",
      'color-scheme: dark;',
    ]);
  });
});
