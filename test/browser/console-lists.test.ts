import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser';
import { seriousFindings, serveConsole } from '../support/console';
import { insertEndedExports } from '../support/ended-exports';
import { expectSoon, waitFor } from '../support/wait-for';

const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'console-lists.json');
const MESSAGES = 1_000;
/** Rows that are rendered at most: those of a window with their neighbours. */
const RENDERED = 60;
const WAITING = 40;
/** More than the console requests at a time. */
const STOPPED = 250;
/** Steps of one run: ten pages of its checkpoints. */
const STEPS = 1_000;
const NAMESPACES = 800;
const VERSIONS = 90;
const FILES = 400;
/** More than the console reads to choose one from. */
const ASSISTANTS = 1_001;
/** Runs of one thread: more than two pages of them. */
const OLDER_RUNS = 250;

/** An element of the page. */
interface Place {
  scrollTop: number;
  scrollHeight: number;
  clientHeight: number;
  getBoundingClientRect(): { top: number; bottom: number };
  closest(selector: string): Place;
}

describeInBrowser('long lists of the console', () => {
  const served = serveConsole({ graphProcesses: 1, graphs: GRAPHS });
  const { open } = served;
  const conversationIn = (page: Page): Locator => page.getByRole('list', { name: 'Conversation' });

  /** A thread with messages of different heights. Its next run streams an answer of many lines. */
  async function longThread(): Promise<string> {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create({ graphId: 'prose' });
    const messages = Array.from({ length: MESSAGES }, (_, index) => ({
      type: index % 2 === 0 ? 'human' : 'ai',
      id: `message-${index}`,
      content: `Message ${index}. ${'It has **several** lines.\n\n'.repeat(index % 7)}`,
    }));
    await client.threads.updateState(thread_id, { values: { messages, words: 400, letter_ms: 10 }, asNode: 'tell' });
    return thread_id;
  }

  /** The element that scrolls the conversation. */
  const scrollerOf = (page: Page): Locator =>
    conversationIn(page).locator('xpath=ancestor::*[contains(@class, "overflow-auto")][1]');
  const scrollTo = (page: Page, top: number): Promise<void> =>
    scrollerOf(page).evaluate((element, to) => void ((element as unknown as Place).scrollTop = to), top);
  const distanceFromEnd = (page: Page): Promise<number> =>
    scrollerOf(page).evaluate((element) => {
      const { scrollHeight, scrollTop, clientHeight } = element as unknown as Place;
      return scrollHeight - scrollTop - clientHeight;
    });
  const message = (page: Page, index: number): Locator =>
    conversationIn(page).getByText(`Message ${index}.`, { exact: false }).first();

  /** Whether a row is inside what its list shows. */
  const isInSight = (row: Locator): Promise<boolean> =>
    row.evaluate((element) => {
      const { top, bottom } = (element as unknown as Place).getBoundingClientRect();
      const list = (element as unknown as Place).closest('.overflow-auto').getBoundingClientRect();
      return top >= list.top - 1 && bottom <= list.bottom + 1;
    });

  async function expectFewRows(page: Page): Promise<void> {
    const rows = conversationIn(page).getByRole('listitem');
    expect(await rows.count()).toBeLessThan(RENDERED);
    expect(await rows.first().getAttribute('aria-setsize')).toBe(String(MESSAGES));
  }

  it('opens a long thread at its end with few of its messages, and scrolls to the first one', async () => {
    const id = await longThread();
    for (const path of [`/threads/${id}`, `/playground?assistant=prose&thread=${id}`]) {
      const page = await open(path);
      await message(page, MESSAGES - 1).waitFor();
      await waitFor('the end of the conversation', async () => (await distanceFromEnd(page)) < 2);
      expect(await message(page, 0).count()).toBe(0);
      await expectFewRows(page);
      expect(await seriousFindings(page)).toEqual([]);

      await scrollTo(page, 0);
      await message(page, 0).waitFor();
      expect(await conversationIn(page).getByRole('listitem').first().getAttribute('aria-posinset')).toBe('1');
      await expectFewRows(page);
      // It stays there: what is measured on the way moves nothing that is in sight.
      expect(await scrollerOf(page).evaluate((element) => (element as unknown as Place).scrollTop)).toBe(0);
      expect(await seriousFindings(page)).toEqual([]);
    }
  });

  it('follows a streamed answer, and leaves a reader alone who scrolls up', async () => {
    const page = await open(`/playground?assistant=prose&thread=${await longThread()}`);
    await message(page, MESSAGES - 1).waitFor();
    await scrollTo(page, 0);
    await message(page, 0).waitFor();
    await page.getByLabel('Message', { exact: true }).fill('Tell me');
    await page.keyboard.press('Enter');
    // Sending brings a reader to the end, wherever the reader was.
    await conversationIn(page)
      .getByText(/\bw60\b/)
      .waitFor();
    await waitFor('the end of the conversation', async () => (await distanceFromEnd(page)) < 100);

    await scrollerOf(page).evaluate((element) => void ((element as unknown as Place).scrollTop -= 600));
    // The position of a row in sight, and not that of the scroll bar: rows above it are measured as they are rendered.
    const topOfRow = async (): Promise<number> => (await message(page, MESSAGES - 2).boundingBox())!.y;
    const before = await topOfRow();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await distanceFromEnd(page)).toBeGreaterThan(600);
    expect(Math.abs((await topOfRow()) - before)).toBeLessThan(3);
    await scrollTo(page, Number.MAX_SAFE_INTEGER);
    await conversationIn(page)
      .getByText(/\bw399\b/)
      .waitFor();
  });

  it('moves through more rows of the inbox than fit by the keyboard', async () => {
    const client = served.gantry.client();
    await Promise.all(
      Array.from({ length: WAITING }, async (_, index) => {
        const { thread_id } = await client.threads.create();
        await client.runs.wait(thread_id, 'desk', { input: { messages: [{ role: 'user', content: `No ${index}` }] } });
      }),
    );
    const page = await open('/inbox');
    const rows = page.getByRole('list', { name: 'Waiting' }).getByRole('listitem');
    await rows.first().waitFor();
    expect(await rows.count()).toBeLessThan(WAITING);
    const chosen = page.getByRole('list', { name: 'Waiting' }).locator('li:has([aria-current=true])');
    const position = async (): Promise<number> => Number(await chosen.getAttribute('aria-posinset'));
    for (let at = 2; at <= WAITING; at += 1) {
      await page.keyboard.press(at % 2 === 0 ? 'j' : 'ArrowDown');
      await waitFor('the next row', async () => (await position()) === at);
    }
    await waitFor('the row to be in sight', () => isInSight(chosen));
    expect(await chosen.locator('button:focus').count()).toBe(1);
    expect(await seriousFindings(page)).toEqual([]);

    // The address selects the row that it names.
    await page.reload();
    await waitFor('the last row', async () => (await position()) === WAITING);
    await page.keyboard.press('k');
    await waitFor('the row above', async () => (await position()) === WAITING - 1);

    // Threads that were stopped have the same status, and may fill whole pages of the search before those that ask.
    await served.gantry.sql.query(
      `INSERT INTO threads SELECT (jsonb_populate_record(t, jsonb_build_object('thread_id', gen_random_uuid(),
            'interrupts', '{}'::jsonb, 'state_updated_at', t.state_updated_at - interval '1 day'))).*
          FROM threads t, generate_series(1, $1::int)
          WHERE t.thread_id = (SELECT thread_id FROM threads WHERE status = 'interrupted' LIMIT 1)`,
      [STOPPED],
    );
    await page.reload();
    await waitFor('the same rows', async () => (await rows.first().getAttribute('aria-setsize')) === String(WAITING));
  });

  it('lists all runs of a thread, of which a page is read at a time', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'talk', { input: { messages: 'Hello' } });
    await client.runs.join(thread_id, run_id);
    await served.gantry.sql.query(
      `INSERT INTO runs (run_id, tenant_id, thread_id, assistant_id, graph_id, status, attempt, metadata, kwargs,
          multitask_strategy, scheduled_at, created_at, updated_at, started_at, ended_at)
        SELECT uuidv7(-n * interval '1 minute'), tenant_id, thread_id, assistant_id, graph_id, status, attempt, metadata, kwargs,
            multitask_strategy, scheduled_at, created_at - n * interval '1 minute', updated_at, started_at, ended_at
          FROM runs, generate_series(1, $2::int) n WHERE run_id = $1`,
      [run_id, OLDER_RUNS],
    );
    const page = await open(`/threads/${thread_id}?tab=runs`);
    const table = page.getByRole('table', { name: 'Runs of the thread' });
    await table
      .getByRole('link', { name: run_id.slice(0, 8) })
      .first()
      .waitFor();
    expect(await table.getByRole('row').count()).toBeLessThan(RENDERED);
    expect(await seriousFindings(page)).toEqual([]);
    await waitFor('the last row', async () => {
      await table.evaluate((element) => {
        const place = element as unknown as Place;
        place.scrollTop = place.scrollHeight;
      });
      // One for the head, and one for the newest run.
      return (await table.getByRole('row').last().getAttribute('aria-rowindex')) === String(OLDER_RUNS + 2);
    });
  });

  it('scrolls to the checkpoint of the address, and reads further pages until it is there', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create({ graphId: 'prose' });
    const ids: string[] = [];
    for (let index = 0; index < 120; index += 1) {
      const values = { words: index };
      const { configurable } = await client.threads.updateState(thread_id, { values, asNode: 'tell' });
      ids.push(String(configurable?.checkpoint_id));
    }
    const page = await open(`/threads/${thread_id}?tab=checkpoints&checkpoint=${ids[10]}`);
    const list = page.getByRole('list', { name: 'Checkpoints' });
    await page.getByText(ids[10], { exact: true }).waitFor();
    const chosen = list.locator('li:has([aria-current=true])');
    expect(await chosen.getAttribute('aria-posinset')).toBe('110');
    await waitFor('the row to be in sight', () => isInSight(chosen));
    expect(await list.getByRole('listitem').count()).toBeLessThan(RENDERED);
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('reads the values of a thread again only when they have changed', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create({ graphId: 'prose' });
    const messages = ['x'.repeat(1_000_000), 'The last one'].map((content) => ({ type: 'human', content }));
    await client.threads.updateState(thread_id, { values: { messages }, asNode: 'tell' });
    const page = await served.browser.open('about:blank');
    await page.clock.install();
    const sizes: number[] = [];
    page.on('response', (response) => {
      if (!new URL(response.url()).pathname.startsWith('/threads/')) return;
      response.body().then(
        ({ length }) => sizes.push(length),
        () => undefined,
      );
    });
    for (const path of ['/threads', `/threads/${thread_id}`, `/threads/${thread_id}?tab=checkpoints`]) {
      await page.goto(`${served.gantry.url}/console${path}`);
      await page.getByText('The last one').first().waitFor();
      await page.waitForLoadState('networkidle');
      const before = sizes.length;
      await waitFor('the next requests', async () => {
        await page.clock.runFor(4_000);
        return sizes.length >= before + 4;
      });
      expect(Math.max(...sizes.slice(before))).toBeLessThan(500_000);
    }
    const changed = page.getByText('Another one').first();
    await page.goto(`${served.gantry.url}/console/threads/${thread_id}`);
    await page.getByText('The last one').first().waitFor();
    const added = { messages: [{ type: 'human', content: 'Another one' }] };
    await client.threads.updateState(thread_id, { values: added, asNode: 'tell' });
    await waitFor('the change', async () => {
      await page.clock.runFor(4_000);
      return changed.isVisible();
    });
  });

  /** Scrolls what scrolls a list to its end, until its last row is there. */
  async function scrollToEnd(list: Locator, count: number): Promise<void> {
    await waitFor('the last row', async () => {
      await list.evaluate((element) => {
        let place = element as unknown as Place & { parentElement: Place | null };
        while (place.scrollHeight <= place.clientHeight && place.parentElement)
          place = place.parentElement as typeof place;
        place.scrollTop = place.scrollHeight;
      });
      return (await list.locator(`[aria-posinset="${count}"]`).count()) === 1;
    });
  }

  it('shows every step of a run of 1,000 of them, also when later runs followed on its thread', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    const play = async (rounds: number): Promise<string> => {
      const { run_id } = await client.runs.create(thread_id, 'rounds', {
        input: { round: 0, rounds },
        config: { recursion_limit: 2 * STEPS },
      });
      await client.runs.join(thread_id, run_id);
      return run_id;
    };
    const run = await play(STEPS);
    await play(2);
    const page = await open(`/runs/${run}`);
    const list = page.getByRole('list', { name: 'Steps' });
    const rows = list.getByRole('listitem');
    // The input and the start are steps as well.
    const all = STEPS + 2;
    await waitFor('all steps', async () => (await rows.first().getAttribute('aria-setsize')) === String(all));
    expect(await rows.count()).toBeLessThan(RENDERED);
    await rows.first().getByText('input').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await scrollToEnd(list, all);
    const last = list.locator(`[aria-posinset="${all}"]`);
    await last.getByText('play').click();
    await last.getByText(String(STEPS), { exact: true }).first().waitFor();
    // A run after it on the same thread has its own steps alone, the first of them after the end of the run before.
    const later = await play(1);
    await page.goto(`${served.gantry.url}/console/runs/${later}`);
    await waitFor('the steps of the later run', async () => (await rows.count()) === 3);
    await rows.last().getByText('play').click();
    await rows.last().getByText('− ', { exact: false }).first().waitFor();
  });

  it('renders the rows in sight of a tree of namespaces, and selects the one of the address', async () => {
    const { store } = served.gantry.client();
    for (let from = 0; from < NAMESPACES; from += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          store.putItem(['users', `user ${String(from + index).padStart(4, '0')}`], 'likes', { number: from + index }),
        ),
      );
    }
    const chosen = JSON.stringify(['users', 'user 0700']);
    const page = await open(`/store?${new URLSearchParams({ namespace: chosen }).toString()}`);
    const tree = page.getByRole('list', { name: 'Tree of namespaces' });
    const current = tree.locator('[aria-current=true]');
    await current.getByText('user 0700').waitFor();
    await page.getByText('700', { exact: true }).first().waitFor();
    expect(await tree.getByRole('listitem').first().getAttribute('aria-setsize')).toBe(String(NAMESPACES + 1));
    expect(await tree.getByRole('listitem').count()).toBeLessThan(RENDERED);
    await waitFor('the row to be in sight', () => isInSight(current));
    expect(await seriousFindings(page)).toEqual([]);
    await scrollToEnd(tree, NAMESPACES + 1);
    await tree.getByRole('button', { name: `user ${String(NAMESPACES - 1).padStart(4, '0')}` }).click();
    await page
      .getByText(String(NAMESPACES - 1), { exact: true })
      .first()
      .waitFor();
  });

  it('renders the versions in sight of an assistant', async () => {
    const { assistants } = served.gantry.client();
    const { assistant_id } = await assistants.create({ graphId: 'talk', name: 'Version 1' });
    for (let version = 2; version <= VERSIONS; version += 1) {
      await assistants.update(assistant_id, { name: `Version ${version}` });
    }
    const page = await open(`/assistants/${assistant_id}?tab=versions`);
    const list = page.getByRole('list', { name: 'Versions' });
    await list.getByText(`Version ${VERSIONS}`, { exact: true }).waitFor();
    expect(await list.getByRole('listitem').count()).toBeLessThan(RENDERED);
    expect(await seriousFindings(page)).toEqual([]);
    await scrollToEnd(list, VERSIONS);
    await list.getByText('Version 1', { exact: true }).waitFor();
    await list.getByRole('button', { name: 'Make current' }).last().click();
    await page.getByRole('heading', { name: 'Version 1' }).waitFor();
  });

  it('renders the files in sight of an exported day', async () => {
    const [exportId] = await insertEndedExports(served.gantry, ['Failed']);
    const { rows } = await served.gantry.sql.query<{ export_run_id: string }>(
      `WITH r AS (
         INSERT INTO bulk_export_runs (tenant_id, export_run_id, export_id, day, start_time, end_time, status, rows_planned, finished_at)
         SELECT tenant_id, gen_random_uuid(), export_id, '2026-01-01', '2026-01-01Z', '2026-01-02Z', 'Completed', $1, now()
         FROM bulk_exports WHERE export_id = $2
         RETURNING tenant_id, export_run_id), f AS (
         INSERT INTO bulk_export_files (tenant_id, export_run_id, part, object_key, rows, bytes, md5, first_start_time,
           first_run_id, last_start_time, last_run_id)
         SELECT tenant_id, export_run_id, n, 'export/part-' || lpad(n::text, 5, '0') || '.parquet', 1, 1, '',
           '2026-01-01Z', gen_random_uuid(), '2026-01-01Z', gen_random_uuid() FROM r, generate_series(1, $1::int) n)
       SELECT export_run_id FROM r`,
      [FILES, exportId],
    );
    const page = await open(`/exports/${exportId}?day=${rows[0].export_run_id}`);
    const list = page.getByRole('dialog').getByRole('list', { name: 'Files' });
    await list.getByText('part-00001.parquet').waitFor();
    expect(await list.getByRole('listitem').count()).toBeLessThan(RENDERED);
    expect(await seriousFindings(page)).toEqual([]);
    await scrollToEnd(list, FILES);
    await list.getByText(`part-00${FILES}.parquet`).waitFor();
  });

  it('finds an assistant that comes after the first 1,000 by name', async () => {
    const { assistant_id } = await served.gantry.client().assistants.create({ graphId: 'talk', name: 'Zoologist' });
    await served.gantry.sql.query(
      `INSERT INTO assistants SELECT (jsonb_populate_record(NULL::assistants, to_jsonb(a) || jsonb_build_object(
          'assistant_id', gen_random_uuid(), 'name', 'Assistant ' || n))).*
        FROM (SELECT * FROM assistants WHERE assistant_id = $1) a, generate_series(1, $2::int) n`,
      [assistant_id, ASSISTANTS],
    );
    const page = await open('/assistants');
    const rows = page.getByRole('table', { name: 'Assistants' });
    await rows.getByRole('link', { name: 'Assistant 1', exact: true }).waitFor();
    await page.getByLabel('Graph').locator('option', { hasText: 'prose' }).waitFor({ state: 'attached' });
    await page.getByLabel('Find an assistant by its name').fill('zoolo');
    await rows.getByRole('link', { name: 'Zoologist' }).click();
    const chosen = page.getByLabel('Assistant', { exact: true }).locator('option:checked');
    await page.getByRole('link', { name: 'Open in the playground' }).click();
    await expectSoon(() => chosen.textContent(), 'Zoologist (talk)');
    await page.goto(`${served.gantry.url}/console/runs?assistant=${assistant_id}`);
    await expectSoon(() => chosen.textContent(), 'Zoologist');
  });
});
