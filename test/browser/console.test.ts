import { join } from 'node:path';
import type { Run } from '@langchain/langgraph-sdk';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser';
import { seriousFindings, serveConsole, takePicture } from '../support/console';
import { insertEndedExports } from '../support/ended-exports';
import { expectSoon, waitFor } from '../support/wait-for';

/** Globals of the page. */
declare const document: { documentElement: { scrollWidth: number } };

/** The examples, and a graph in a graph. */
const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'console.json');
const WEATHER = 'What is the weather in Oslo?';

describeInBrowser('the console', () => {
  const served = serveConsole({ graphProcesses: 1, graphs: GRAPHS });
  const { open } = served;

  /** A thread on which a graph has run to its end or to its question. */
  async function threadAfter(assistant: string, input: Record<string, unknown>): Promise<string> {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, assistant, { input });
    return thread_id;
  }

  async function ask(page: Page, text: string): Promise<void> {
    await page.getByLabel('Message', { exact: true }).fill(text);
    await page.keyboard.press('Enter');
  }

  it('Interrupt inbox: shows each question once, oldest first, and works with the keyboard', async () => {
    const first = await threadAfter('approval', { amount: 120 });
    const second = await threadAfter('approval', { amount: 45 });
    const page = await open('/inbox');
    const items = page.getByRole('list', { name: 'Waiting' }).getByRole('button');
    await items.nth(1).waitFor();
    expect(await items.count()).toBe(2);
    await page.getByText('"Refund of $120"').waitFor();
    expect(await page.getByRole('region', { name: /Question/ }).count()).toBe(1);
    expect(await seriousFindings(page)).toEqual([]);
    await takePicture(page, 'inbox');

    await page.keyboard.press('j');
    await page.getByText('"Refund of $45"').waitFor();
    await page.keyboard.press('r');
    await page.getByText('"Refund of $120"').waitFor();
    await page.keyboard.press('a');
    await page.getByText('Nothing waits for a person').waitFor();
    const outcomeOf = async (id: string) =>
      (await served.gantry.client().threads.get<{ outcome: string }>(id)).values?.outcome;
    await waitFor('the runs to continue', async () => (await outcomeOf(first)) === 'paid $120');
    await waitFor('the runs to continue', async () => (await outcomeOf(second)) === 'dropped');
  });

  it('Threads: finds one, compares its states, edits one and forks', async () => {
    const id = await threadAfter('agent', { messages: [{ role: 'user', content: 'Hello there' }] });
    await served.gantry.client().threads.update(id, { metadata: { customer: 'ada' } });
    const page = await open('/threads');
    await page.getByLabel('Metadata').fill('{"customer": "ada"}');
    await waitFor('the filter', async () => page.url().includes('ada'));
    await waitFor('one row', async () => (await page.getByRole('row').count()) === 2);
    expect(await seriousFindings(page)).toEqual([]);
    await takePicture(page, 'threads');
    await page.getByRole('link', { name: id.slice(0, 8) }).click();
    await page.getByText('Hello there').first().waitFor();
    await page.getByRole('tab', { name: 'Checkpoints' }).click();
    const checkpoints = page.getByRole('list', { name: 'Checkpoints' }).getByRole('button');
    await checkpoints.first().waitFor();
    const before = await checkpoints.count();
    await page.getByText(/^\+ /).first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await takePicture(page, 'checkpoints');
    // The first one is compared with the last: what that one has is missing here.
    await checkpoints.last().click();
    const last = await page.getByLabel('Compare with').locator('option').nth(1).getAttribute('value');
    await page.getByLabel('Compare with').selectOption(last);
    await page.getByText(/^− /).first().waitFor();
    await page.reload();
    await page.getByText(/^− /).first().waitFor();
    await checkpoints.first().click();

    await page.getByRole('button', { name: 'Edit the state' }).click();
    const editor = page.getByRole('dialog').getByLabel('Values');
    await editor.click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText('{"messages": [{"type": "human", "content": "Written by hand"}]}');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await waitFor('the new checkpoint', async () => (await checkpoints.count()) === before + 1);
    const { values } = await served.gantry.client().threads.getState<{ messages: { content: string }[] }>(id);
    expect(values.messages.at(-1)!.content).toBe('Written by hand');

    await checkpoints.nth(1).click();
    await page.getByRole('link', { name: 'Fork in the Playground' }).click();
    await page.getByText(/continues from checkpoint/).waitFor();
    await ask(page, WEATHER);
    await page.getByText(/Here is what I found/).waitFor();
  });

  it('Threads: keeps the draft of a state, and edits the one it was made of, while its history changes or can’t be read', async () => {
    const client = served.gantry.client();
    const id = await threadAfter('nested', { text: 'hello' });
    const { checkpoint } = await client.threads.getState(id);
    const page = await open(`/threads/${id}?tab=checkpoints`);
    const checkpoints = page.locator('[aria-label=Checkpoints] button');
    await checkpoints.first().waitFor();
    const before = await checkpoints.count();
    await page.getByRole('button', { name: 'Edit the state' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Values').click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText('{"text": "from a draft"}');
    const isHistory = ({ pathname }: URL): boolean => pathname.endsWith('/history');
    await page.route(isHistory, (route) => route.fulfill({ status: 500, json: { message: 'No history today' } }));
    await page.locator('[role=alert]', { hasText: 'No history today' }).waitFor();
    expect(await checkpoints.count()).toBe(before);
    await client.runs.wait(id, 'nested', { input: { text: 'newer' } });
    await page.unroute(isHistory);
    await waitFor('the newer states', async () => (await checkpoints.count()) > before);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const edited = await client.threads.getState(id);
    expect(edited.values).toMatchObject({ text: 'from a draft' });
    expect(edited.parent_checkpoint?.checkpoint_id).toBe(checkpoint.checkpoint_id);
  });

  it('Threads: finds one by its values and status', async () => {
    const id = await threadAfter('nested', { text: 'found by this' });
    const page = await open('/threads');
    await page.getByLabel('Values').fill('{"text": "FOUND BY THIS!"}');
    await page.getByLabel('Status').selectOption('idle');
    await waitFor('one row', async () => (await page.getByRole('row').count()) === 2);
    await page.reload();
    await page.getByRole('link', { name: id.slice(0, 8) }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByLabel('Status').selectOption('interrupted');
    await page.getByRole('link', { name: id.slice(0, 8) }).waitFor({ state: 'detached' });
  });

  it('Threads: opens the states of a subgraph, replays, copies and deletes', async () => {
    const client = served.gantry.client();
    const id = await threadAfter('nested', { text: 'hello' });
    const page = await open(`/threads/${id}?tab=checkpoints`);
    const checkpoints = page.getByRole('list', { name: 'Checkpoints' }).getByRole('button');
    await checkpoints.filter({ hasText: 'next: inner' }).click();
    await page.getByRole('button', { name: 'Open the states of inner' }).click();
    await waitFor('the subgraph in the address', async () => page.url().includes('subgraph=inner'));
    await checkpoints.filter({ hasText: 'next: shout' }).waitFor();
    await page.getByText('"HELLO"').first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('navigation', { name: 'Subgraph' }).getByRole('button', { name: 'Thread' }).click();

    await checkpoints.filter({ hasText: 'next: inner' }).click();
    await page.getByRole('button', { name: 'Replay from here' }).click();
    await waitFor('the second run', async () =>
      (await client.runs.list(id)).every(({ status }, _, runs) => runs.length === 2 && status === 'success'),
    );

    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Copy the thread' }).click();
    await waitFor('the page of the copy', async () => !page.url().includes(id));
    const copy = /threads\/([0-9a-f-]+)/.exec(page.url())![1];
    expect((await client.threads.getState(copy)).values).toEqual((await client.threads.getState(id)).values);
    const askToDelete = async () => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Delete the thread' }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).waitFor();
    };
    await askToDelete();
    // What was opened for one thread is not on the page of another one.
    await page.goBack();
    await page.getByRole('heading', { name: id }).waitFor();
    expect(await page.getByRole('button', { name: 'Delete', exact: true }).count()).toBe(0);
    await page.goForward();
    await page.getByRole('heading', { name: copy }).waitFor();
    await askToDelete();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await waitFor('the list of threads', async () => page.url().endsWith('/console/threads'));
    await expect(client.threads.get(copy)).rejects.toThrow(/404/);
    expect((await client.threads.get(id)).thread_id).toBe(id);
  });

  it('Threads: shows the text of a model without HTML, pictures of other hosts and scripts', async () => {
    const id = await threadAfter('agent', { messages: [{ role: 'user', content: 'Hello there' }] });
    const content =
      '<img src="http://other.test/a.png" onerror="document.title = 1"><script>document.title = 2</script> **bold** ' +
      '![a picture](http://other.test/b.png) [a site](https://other.test/c) [a trick](javascript:document.title=3)';
    await served.gantry.client().threads.updateState(id, { values: { messages: [{ type: 'ai', content }] } });
    const page = await served.browser.open('about:blank');
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    await page.goto(`${served.gantry.url}/console/threads/${id}`);
    const text = page.locator('.markdown').filter({ hasText: 'bold' });
    await text.locator('strong').getByText('bold').waitFor();
    expect(await text.locator('img, script, iframe, [onerror]').count()).toBe(0);
    await text.getByText('[picture: a picture]').waitFor();
    const link = text.getByRole('link', { name: 'a site (other.test)' });
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer nofollow');
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    expect([...hosts]).toEqual([new URL(served.gantry.url).host]);
  });

  it('Runs: finds a failed one by filters in the address, shows its steps, and cancels a running one', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    const failed = await client.runs.create(thread_id, 'agent', {
      input: { messages: [{ role: 'user', content: WEATHER }] },
      config: { recursion_limit: 1 },
    });
    await client.runs.join(thread_id, failed.run_id).catch(() => undefined);
    const page = await open('/runs?status=error,timeout');
    await page.getByRole('link', { name: failed.run_id.slice(0, 8) }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    expect(await seriousFindings(page)).toEqual([]);
    await takePicture(page, 'runs');
    await page.getByRole('link', { name: failed.run_id.slice(0, 8) }).focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('alert')
      .getByText(/Recursion limit/)
      .waitFor();
    expect(await seriousFindings(page)).toEqual([]);

    await page.getByRole('tab', { name: 'Events' }).click();
    const events = page.getByRole('region', { name: 'Events', exact: true });
    await events.getByRole('listitem').filter({ hasText: 'error' }).first().waitFor();

    const live = await client.runs.create(thread_id, 'pipeline', {
      input: { step_ms: 8_000 },
      streamMode: ['values', 'tasks'],
    });
    await page.goto(`${served.gantry.url}/console/runs/${live.run_id}?tab=events&modes=values,tasks`);
    for (const mode of ['values', 'tasks']) {
      await events.getByRole('region', { name: mode }).getByRole('listitem').first().waitFor();
    }
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.getByText('start', { exact: true }).waitFor();
    await page.locator('.react-flow__node.taken').getByText('step_1', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Steps' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('interrupted').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('Runs: draws the path that a run took in its graph', async () => {
    const client = served.gantry.client();
    const runOf = async (assistant: string, input: Record<string, unknown>): Promise<Run> => {
      const { thread_id } = await client.threads.create();
      const { run_id } = await client.runs.create(thread_id, assistant, { input });
      await client.runs.join(thread_id, run_id);
      return client.runs.get(thread_id, run_id);
    };
    const talked = await runOf('agent', { messages: [{ role: 'user', content: 'Hello there' }] });
    const asked = await runOf('agent', { messages: [{ role: 'user', content: WEATHER }] });
    const waiting = await runOf('approval', { amount: 12 });
    const page = await open(`/runs/${talked.run_id}?tab=graph`);
    const path = async (): Promise<string[]> => {
      await page.locator('.react-flow__node').first().waitFor();
      const nodes = await page.locator('.react-flow__node.taken').allTextContents();
      const edges = await page
        .locator('.react-flow__edge.taken')
        .evaluateAll((all) => all.map((edge) => (edge as unknown as Element).getAttribute('data-id')));
      return [...nodes, ...edges.map(String)].sort();
    };
    const shows = (expected: string[]): Promise<void> => expectSoon(path, expected);
    await shows(['__start__-agent', 'agent', 'agent-__end__', 'end', 'start']);
    await page.goto(`${served.gantry.url}/console/runs/${asked.run_id}?tab=graph`);
    await shows(['__start__-agent', 'agent', 'agent-__end__', 'agent-tools', 'end', 'start', 'tools', 'tools-agent']);
    await page.goto(`${served.gantry.url}/console/runs/${waiting.run_id}?tab=graph`);
    await shows(['__start__-prepare', 'prepare', 'start']);
    await client.threads.delete(waiting.thread_id);
  });

  it('Interrupt inbox and runs: fit a phone', async () => {
    const thread = await threadAfter('approval', { amount: 77 });
    const phone = { viewport: { width: 390, height: 844 } };
    const fitsPhone = async (page: Page): Promise<void> => {
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
      expect(await seriousFindings(page)).toEqual([]);
    };
    const runs = await served.browser.open(`${served.gantry.url}/console/runs`, phone);
    await runs.getByRole('table', { name: 'Runs' }).getByText('interrupted').first().waitFor();
    await fitsPhone(runs);
    const inbox = await served.browser.open(`${served.gantry.url}/console/inbox`, phone);
    await inbox.getByText('"Refund of $77"').waitFor();
    await fitsPhone(inbox);
    // The keyboard opens an answer, and the button sends it.
    await inbox.keyboard.press('e');
    await inbox.getByLabel('Answer as JSON').click();
    await inbox.keyboard.press('ControlOrMeta+a');
    await inbox.keyboard.insertText('"reject"');
    await inbox.getByRole('button', { name: 'Send the answer' }).click();
    await inbox.getByText('Nothing waits for a person').waitFor();
    await waitFor('the answer', async () => {
      const { values } = await served.gantry.client().threads.get<{ outcome: string }>(thread);
      return values?.outcome === 'dropped';
    });
  });

  it('Home: counts running, failed and waiting runs, each one click away', async () => {
    await threadAfter('approval', { amount: 9 });
    // Half of them by their time limit, and more than one page of the list.
    const ended = Array.from({ length: 101 }, (_, index) => (index % 2 === 0 ? 'TimedOut' : 'Failed'));
    await insertEndedExports(served.gantry, ended);
    const page = await served.browser.open('about:blank');
    // The threads that wait for a person are shown before the statistics.
    const overview = Promise.withResolvers<void>();
    await page.route('**/runs/overview', async (route) => {
      await overview.promise;
      await route.continue();
    });
    await page.goto(`${served.gantry.url}/console/`);
    await page.getByRole('link', { name: /Interrupts to answer\s*1/ }).waitFor();
    overview.resolve();
    // Those of both statuses are in the list without a filter.
    const failed = page.getByRole('link', { name: /Failed exports\s*101/ });
    expect(await failed.getAttribute('href')).toBe('/console/exports');
    await page
      .getByRole('img', { name: /runs, of which/ })
      .locator('canvas')
      .waitFor();
    await page.getByText(/^\d+ of \d+ slots in use$/).waitFor();
    await page.getByRole('link', { name: /Tokens per minute.*in traces/ }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await takePicture(page, 'home');
    await page.getByRole('link', { name: /Interrupts to answer/ }).click();
    await page.getByText('"Refund of $9"').waitFor();
  });
});

interface Element {
  getAttribute(name: string): string | null;
}
