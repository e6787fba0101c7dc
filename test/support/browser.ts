import { createServer, type Server } from 'node:http';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { getMimeType } from 'hono/utils/mime';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Globals of the page. */
declare const localStorage: { setItem(key: string, value: string): void };

const CHROMIUM = process.env.GANTRY_TEST_CHROMIUM;
/** Shorter than the timeout of a test, so that the page's error names what is missing. */
export const PAGE_TIMEOUT_MS = 90_000;

/** `describe` for tests with a browser; where there is none, they are skipped under a name that says why. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (CHROMIUM) describe(name, tests);
  else describe.skip(`${name} (there is no Chromium: install it, or name one in GANTRY_TEST_CHROMIUM)`, tests);
}

/** Root in a container can't use the sandbox. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM!, chromiumSandbox: process.getuid?.() !== 0 });

/** Pages of a folder, on a server of their own, in a real browser. */
export class BrowserSite {
  /** Errors that pages reported, for the message of a failure. */
  readonly complaints: string[] = [];

  private constructor(
    private readonly browser: Browser,
    private readonly server: Server,
  ) {}

  /** @param folder with the pages; index.html stands for paths that aren't there */
  static async open(folder: string): Promise<BrowserSite> {
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost');
      const file = join(folder, normalize(pathname));
      readFile(file)
        .then((content) => ({ content, name: file }))
        .catch(async () => ({ content: await readFile(join(folder, 'index.html')), name: 'index.html' }))
        .then(
          ({ content, name }) => response.setHeader('content-type', getMimeType(name) ?? 'text/plain').end(content),
          () => response.writeHead(404).end(),
        );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      return new BrowserSite(await launchBrowser(), server);
    } catch (error) {
      server.close();
      throw error;
    }
  }

  /** Pages have another origin than the API, and are of another site: localhost is none of 127.0.0.1. */
  get origin(): string {
    return `http://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  /** Opens a page in a browser window that has seen none before. */
  async page(path: string, query: Record<string, string>, storage: Record<string, string> = {}): Promise<Page> {
    const context = await this.browser.newContext({ viewport: { width: 1400, height: 900 } });
    await context.addInitScript((entries) => {
      for (const [key, value] of Object.entries(entries)) {
        localStorage.setItem(key, value);
      }
    }, storage);
    const page = await context.newPage();
    page.setDefaultTimeout(PAGE_TIMEOUT_MS);
    page.on('pageerror', ({ message }) => this.complaints.push(message));
    page.on('console', (line) => line.type() === 'error' && this.complaints.push(line.text()));
    await page.goto(`${this.origin}/${path}?${new URLSearchParams(query).toString()}`);
    return page;
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
