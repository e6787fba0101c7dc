import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser';
import { seriousFindings } from '../support/console';
import { main, NAMES, serveFilledConsole, settled, TEMPORAL_UI } from '../support/console-pages';
import { expectSoon, waitFor } from '../support/wait-for';

/** How long a page that was loaded again may take to show its choices. */
const CHOICES_MS = 60_000;

/** A control of the page. */
interface Control {
  value?: string;
  checked?: boolean;
  textContent: string;
}

describeInBrowser('the addresses and links of the console', () => {
  const { served, ids, visit } = serveFilledConsole();

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
    const page = await visit(name);
    const before = await choices(page);
    await choose(page);
    await settled(page);
    const chosen = await choices(page);
    if (before.length > 0 && chosen.join() !== before.join()) {
      await waitFor('the address', async () => new URL(page.url()).search !== '');
    }
    await page.reload();
    await settled(page);
    await expectSoon(() => choices(page), chosen, CHOICES_MS);
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

  it.each(['a thread', 'a run', 'a trace', 'a cron', 'a delivery', 'an export'] as const)(
    '%s leads to Temporal’s own UI',
    async (name) => {
      const page = await visit(name);
      const link = page.getByRole('link', { name: 'Temporal' });
      const { origin, pathname, searchParams } = new URL((await link.getAttribute('href'))!);
      expect(origin).toBe(TEMPORAL_UI);
      // A short run has no workflow, so that its page may lead to a search without a result.
      if (['a thread', 'a run', 'a trace'].includes(name)) {
        expect(pathname).toMatch(/\/workflows$/);
        expect(searchParams.get('query')).toBe(`WorkflowId="run-${ids.run}"`);
      } else {
        expect(pathname).toMatch(/\/workflows\/[^/]+$/);
      }
    },
  );

  it('shows the thread of the address in the inbox, and no other one in its place when it waits no longer', async () => {
    const client = served.gantry.client();
    const { thread_id: stopped } = await client.threads.create();
    const run = await client.runs.create(stopped, 'pipeline', { input: { step_ms: 60_000 } });
    await waitFor('its first node', async () => (await client.threads.getState(stopped)).next.length > 0);
    await client.runs.cancel(stopped, run.run_id, true);
    const page = await served.visit(`/threads/${stopped}`);
    await main(page).getByText('interrupted', { exact: true }).first().waitFor();
    await page.getByRole('tab', { name: 'Values' }).waitFor();
    const link = page.getByRole('link', { name: 'Answer in the inbox' });
    expect(await link.count()).toBe(0);
    const gone = page.getByText('This thread no longer waits for an answer');
    await served.visit(`/inbox?thread=${stopped}`);
    await gone.waitFor();
    expect(await seriousFindings(page)).toEqual([]);

    const { thread_id: asking } = await client.threads.create();
    await client.runs.wait(asking, 'approval', { input: { amount: 32 } });
    await served.visit(`/threads/${asking}`);
    await link.click();
    const questions = page.getByRole('region', { name: /Question/ });
    await questions.getByText('"Refund of $32"').waitFor();
    // Another person answers.
    await client.runs.create(asking, 'approval', { command: { resume: 'reject' } });
    await gone.waitFor();
    expect(await questions.count()).toBe(0);
    await page.keyboard.press('a');
    await page.keyboard.press('j');
    await questions.getByText('"Refund of $120"').waitFor();

    // The first one is in the address from the beginning, and answered by another person as well.
    await served.visit('/inbox');
    await questions.getByText('"Refund of $120"').waitFor();
    const first = new URL(page.url()).searchParams.get('thread')!;
    await client.runs.create(first, 'approval', { command: { resume: 'reject' } });
    await gone.waitFor();
  });

  it('sends no answer to a question that another person has answered', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'approval', { input: { amount: 33 } });
    const answered = async (page: Page, press: () => Promise<void>): Promise<void> => {
      await press();
      await page.getByText('This question no longer waits for an answer').waitFor();
      expect(await client.runs.list(thread_id)).toHaveLength(2);
    };
    const playground = await served.open(`/playground?assistant=approval&thread=${thread_id}`);
    const approve = playground.getByRole('region', { name: 'Question' }).getByRole('button', { name: 'Approve' });
    await approve.waitFor();
    const inbox = await served.open(`/inbox?thread=${thread_id}`);
    await inbox.getByText('"Refund of $33"').waitFor();
    // The list of this page was read before the answer of the other person.
    await inbox.route('**/threads/search', (route) => {
      const { ids } = route.request().postDataJSON() as { ids?: string[] };
      return ids ? route.continue() : undefined;
    });
    await client.runs.wait(thread_id, 'approval', { command: { resume: 'approve' } });
    await answered(inbox, () => inbox.keyboard.press('r'));
    await answered(playground, () => approve.click());
    await inbox.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('no longer shows the question of a parallel task that is answered', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'ask_both', { input: {} });
    const page = await served.visit(`/inbox?thread=${thread_id}`);
    const first = page.getByRole('region', { name: /Question/ }).filter({ hasText: 'First?' });
    const second = page.getByRole('region', { name: /Question/ }).filter({ hasText: 'Second?' });
    await second.getByRole('button', { name: 'Answer' }).click();
    const draft = second.getByRole('textbox', { name: 'Answer as JSON' });
    await draft.click();
    await page.keyboard.insertText('"later"');
    await first.getByRole('button', { name: 'Reject' }).click();
    await first.waitFor({ state: 'detached' });
    // What was entered for the other question is kept while the run continues, and until it asks again.
    await second.getByRole('button', { name: 'Send the answer', disabled: false }).waitFor();
    expect(await draft.textContent()).toContain('"later"');
    expect(new URL(page.url()).searchParams.get('thread')).toBe(thread_id);
    await waitFor('the run of the answer', async () => {
      const [run] = await client.runs.list(thread_id, { limit: 1 });
      return run.status === 'interrupted' || run.status === 'success';
    });
    await served.visit(`/inbox?thread=${thread_id}`);
    await second.waitFor();
    expect(await first.count()).toBe(0);
    await second.getByRole('button', { name: 'Approve' }).click();
    const ended = await waitFor('both answers', async () => {
      const thread = await client.threads.get(thread_id);
      return thread.status === 'idle' && thread;
    });
    expect(ended.values).toEqual({ first: 'reject', second: 'approve' });
  });

  it('finds runs of several projects by one filter', async () => {
    const page = await served.open('/traces');
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
