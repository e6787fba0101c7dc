import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { launchBrowser, PAGE_TIMEOUT_MS } from './browser';
import { type Gantry, type GantryOptions, startGantry } from './gantry';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const WINDOW = { width: 1360, height: 860 };
const ROOT = join(__dirname, '..', '..');
/** Folder for the pictures of docs/console.md, which `GANTRY_TEST_SCREENSHOTS=1` makes. */
const PICTURES = join(ROOT, 'docs', 'console');

/** Globals of the page. */
declare const document: {
  body: object;
  createTreeWalker(root: object, show: number): { nextNode(): { nodeValue: string } | null };
};
declare const axe: {
  run(options: object): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
};

/** The console of a server in a real browser, with the errors that its pages report. */
export class ConsoleBrowser {
  /** Errors of scripts, and refusals of the page's policy. */
  readonly complaints: string[] = [];
  private readonly contexts: BrowserContext[] = [];
  private lasting: Page | undefined;

  private constructor(private readonly browser: Browser) {}

  static async launch(): Promise<ConsoleBrowser> {
    return new ConsoleBrowser(await launchBrowser());
  }

  /** Opens an address in a window that has seen none before. */
  async open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.newContext(options);
    this.contexts.push(context);
    return this.newPage(context, url);
  }

  /** Opens an address in the window that stays: it need not load and compile again what it has had before. */
  async visit(url: string): Promise<Page> {
    if (!this.lasting) return (this.lasting = await this.newPage(await this.newContext(), url));
    await this.lasting.emulateMedia({ colorScheme: 'light', reducedMotion: 'no-preference' });
    await this.lasting.setViewportSize(WINDOW);
    await this.lasting.goto(url);
    return this.lasting;
  }

  private newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    return this.browser.newContext({ viewport: WINDOW, ...options });
  }

  private async newPage(context: BrowserContext, url: string): Promise<Page> {
    const page = await context.newPage();
    page.setDefaultTimeout(PAGE_TIMEOUT_MS);
    page.on('pageerror', ({ message }) => this.complaints.push(message));
    page.on('console', (line) => {
      if (line.type() === 'error' && !line.text().includes('Failed to load resource'))
        this.complaints.push(line.text());
    });
    await page.goto(url);
    return page;
  }

  /** Closes the windows of a test, and resolves to what their pages complained about. */
  async closePages(): Promise<string[]> {
    for (const context of this.contexts.splice(0)) await context.close();
    return this.complaints.splice(0);
  }

  async close(): Promise<void> {
    await this.browser.close();
  }
}

/** A server of a suite, and a browser for its console. Both are there from the suite's first hook to its last. */
export class ServedConsole {
  gantry!: Gantry;
  browser!: ConsoleBrowser;

  /** Opens a path of the console in a new window. */
  readonly open = (path: string): Promise<Page> => this.browser.open(`${this.gantry.url}/console${path}`);

  /** Opens a path of the console in the window of the suite. */
  readonly visit = (path: string): Promise<Page> => this.browser.visit(`${this.gantry.url}/console${path}`);
}

/** Serves a console to the tests of the suite that calls this, each of which fails when a page of it complained. */
export function serveConsole(options: GantryOptions): ServedConsole {
  const served = new ServedConsole();
  beforeAll(async () => {
    [served.gantry, served.browser] = await Promise.all([startGantry(options), ConsoleBrowser.launch()]);
  }, 300_000);
  afterEach(async () => {
    expect(await served.browser.closePages()).toEqual([]);
  });
  afterAll(async () => {
    await served.browser?.close();
    await served.gantry?.stop();
  });
  return served;
}

/** An element of the page, in the page itself or in a shadow root. */
interface Focusable {
  getRootNode(): { activeElement: unknown };
}

/** Whether an element has the keyboard's focus. */
export const hasFocus = (element: Locator): Promise<boolean> =>
  element.evaluate((each) => {
    const focusable = each as unknown as Focusable;
    return focusable === focusable.getRootNode().activeElement;
  });

/** Maximum number of elements before the last one of a page that the Tab key reaches. */
const MOST_TABS = 120;

/** Moves the focus to an element with the Tab key, as a person does who uses no mouse. */
export async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor();
  for (let tabs = 0; tabs < MOST_TABS && !(await hasFocus(element)); tabs += 1) await page.keyboard.press('Tab');
  if (!(await hasFocus(element))) throw new Error(`The Tab key does not reach ${String(element)}`);
}

/**
 * Findings of axe that keep people from using a page, each with the element.
 * @param rules names of rules, all by default
 */
export async function seriousFindings(page: Page, rules?: string[]): Promise<string[]> {
  // Injected through the debugger's protocol, to which the page's policy doesn't apply.
  await page.evaluate(AXE);
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const { violations } = await page.evaluate((given) => axe.run(given), options);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

/**
 * Rules that depend on colours. A colour scheme changes nothing else of a page (console-frame.test.ts tests that), so the other
 * rules find in dark mode what they find in light mode.
 */
export const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** Runs in the page: replaces the folder of the checkout, which differs with each machine, by that of an example. */
function hideFolder(folder: string): void {
  const texts = document.createTreeWalker(document.body, 4 /* NodeFilter.SHOW_TEXT */);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    text.nodeValue = text.nodeValue.replaceAll(folder, '/srv/agents');
  }
}

/** Saves a picture of the page for docs/console.md, if requested. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (!process.env.GANTRY_TEST_SCREENSHOTS) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.evaluate(hideFolder, ROOT);
  await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: 'disabled' });
}
