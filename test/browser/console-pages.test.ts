import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser';
import { COLOUR_RULES, hasFocus, seriousFindings, tabTo, takePicture } from '../support/console';
import { main, NAMES, type PageName, serveFilledConsole } from '../support/console-pages';
import { waitFor } from '../support/wait-for';

/** Global of the page. */
declare const document: { documentElement: { scrollWidth: number } };

const PHONE_WIDTH = 390;

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

interface TimeElement {
  textContent: string;
  title: string;
  dateTime: string;
}

describeInBrowser('every page of the console', () => {
  const { served, visit } = serveFilledConsole();

  it.each(NAMES)(
    '%s shows its API call by keyboard, times with the exact ones on hover, is readable in dark mode, and fits a phone',
    async (name) => {
      const page = await visit(name);
      const picture = PICTURES[name];
      if (picture) await takePicture(page, picture);
      await showsItsCall(page);
      if (WITH_TIMES.includes(name)) await showsTimes(page);
      await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
      expect(await seriousFindings(page, COLOUR_RULES)).toEqual([]);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: PHONE_WIDTH, height: 844 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE_WIDTH);
      expect(await seriousFindings(page)).toEqual([]);
    },
  );

  async function showsItsCall(page: Page): Promise<void> {
    const button = page.getByRole('button', { name: 'Show the API call' });
    await tabTo(page, button);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'API call' });
    const parts = { curl: 'curl ', JavaScript: 'await ', Python: 'import ' };
    await dialog.getByRole('tab', { name: 'curl' }).focus();
    for (const [language, part] of Object.entries(parts)) {
      await dialog.getByRole('tab', { name: language, selected: true }).waitFor();
      const code = await dialog.getByRole('tabpanel', { name: language }).locator('pre').textContent();
      expect(code).toContain(part);
      expect(code).toContain(served.gantry.url);
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await waitFor('the focus on the button again', () => hasFocus(button));
  }

  async function showsTimes(page: Page): Promise<void> {
    const times = main(page).locator('time');
    await times.first().waitFor();
    const shown = await times.evaluateAll((elements) =>
      elements.map((each) => {
        const { textContent, title, dateTime } = each as unknown as TimeElement;
        return { textContent, title, dateTime };
      }),
    );
    for (const { textContent, title, dateTime } of shown) {
      expect(textContent).toMatch(/^(now|in \d+ \w+|\d+ \w+ ago)$/);
      expect(title).toMatch(/20\d\d.*\d+:\d\d:\d\d/);
      expect(dateTime).toMatch(/^20\d\d-.*Z$/);
    }
  }
});
