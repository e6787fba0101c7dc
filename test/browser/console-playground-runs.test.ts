import type { Locator, Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser';
import { seriousFindings, serveConsole } from '../support/console';
import { GRAPHS } from '../support/console-pages';
import { expectSoon, waitFor } from '../support/wait-for';

/** Longer than a test: such a step ends only when its run is cancelled. */
const LONG_MS = '60000';

describeInBrowser('the runs of the playground', () => {
  const served = serveConsole({ graphProcesses: 1, graphs: GRAPHS });
  const { open } = served;

  /** Starts a run of ten steps on a new thread of the page. Resolves to the thread once the run has this status. */
  async function startRun(page: Page, status = 'running'): Promise<string> {
    await page.getByRole('spinbutton').first().fill(LONG_MS);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    return waitFor(`the run to be ${status}`, async () => {
      const id = new URL(page.url()).searchParams.get('thread');
      return id !== null && (await statuses(id)).join() === status ? id : undefined;
    });
  }
  /** Of the runs of a thread, newest first. */
  const statuses = async (thread: string): Promise<string[]> =>
    (await served.gantry.client().runs.list(thread)).map(({ status }) => status);
  async function cancelRun(thread: string): Promise<void> {
    const client = served.gantry.client();
    const [{ run_id }] = await client.runs.list(thread);
    await client.runs.cancel(thread, run_id);
  }
  const stopButton = (page: Page): Locator => page.getByRole('button', { name: 'Stop' });

  it('stops a run, and answers the question of another one', async () => {
    const page = await open('/playground?assistant=pipeline');
    const thread = await startRun(page);
    await waitFor('the first step', async () => {
      const { next } = await served.gantry.client().threads.getState(thread);
      return next.join() === 'step_1';
    });
    await stopButton(page).click();
    await waitFor('the run to be stopped', async () => (await statuses(thread)).join() === 'interrupted');
    await page.getByRole('region', { name: 'Stopped run' }).getByText('The run stopped before step_1.').waitFor();
    expect(await page.getByRole('region', { name: 'Question' }).count()).toBe(0);

    await page.getByLabel('Assistant').selectOption({ label: 'approval' });
    await page.getByRole('spinbutton').first().fill('70');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Question' }).getByRole('button', { name: 'Approve' }).click();
    await page.getByText('"paid $70"').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('continues a run that a breakpoint has stopped', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'pipeline', { input: { step_ms: 1 }, interruptBefore: ['step_3'] });
    const page = await open(`/playground?assistant=pipeline&thread=${thread_id}`);
    const stopped = page.getByRole('region', { name: 'Stopped run' });
    await stopped.getByText('The run stopped before step_3.').waitFor();
    expect(await page.getByRole('region', { name: 'Question' }).count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await stopped.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('"step_10"').waitFor();
    await stopped.waitFor({ state: 'detached' });
  });

  it('starts a node again whose worker was lost, and takes no answer for it', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'careful', { input: { step_ms: 3_000 } });
    await waitFor('its first step', async () => (await client.threads.getState(thread_id)).next.join() === 'step_1');
    await served.gantry.killWorker();
    await served.gantry.startWorker();
    await client.runs.join(thread_id, run_id);
    const inDoubt = /The outcome of step_\d is unknown/;
    const inbox = await open(`/inbox?thread=${thread_id}`);
    const again = inbox.getByRole('button', { name: 'Start it again' });
    await again.waitFor();
    await inbox.getByRole('heading', { name: inDoubt }).waitFor();
    expect(await seriousFindings(inbox)).toEqual([]);
    for (const key of ['r', 'a']) await inbox.keyboard.press(key);
    expect(await inbox.getByRole('button', { name: /Approve|Reject/ }).count()).toBe(0);
    expect(await statuses(thread_id)).toHaveLength(1);
    expect((await client.threads.get(thread_id)).status).toBe('interrupted');

    const page = await open(`/playground?assistant=careful&thread=${thread_id}`);
    const section = page.getByRole('region', { name: inDoubt });
    await section.getByText('it may or may not have taken effect').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await page.getByRole('region', { name: 'Stopped run' }).count()).toBe(0);
    await again.click();
    await waitFor('the run that continues', async () => (await statuses(thread_id)).length === 2);
    const [{ kwargs }] = (await client.runs.list(thread_id)) as unknown as { kwargs: { command?: unknown } }[];
    expect(kwargs.command ?? null).toBeNull();
    await cancelRun(thread_id);
    await waitFor('its end', async () => (await statuses(thread_id))[0] === 'interrupted');
  });

  it('starts a node again whose worker was lost before it takes an answer to the question beside it', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'ask_beside', { input: { nap_ms: 10_000 } });
    await waitFor('its question', async () => {
      const { tasks } = await client.threads.getState(thread_id);
      return tasks.some(({ interrupts }) => interrupts.length > 0);
    });
    await served.gantry.killWorker();
    await served.gantry.startWorker();
    await client.runs.join(thread_id, run_id);
    const page = await open(`/playground?assistant=ask_beside&thread=${thread_id}`);
    const inDoubt = page.getByRole('region', { name: 'The outcome of nap is unknown' });
    const question = page.getByRole('region', { name: 'Question' });
    await inDoubt.waitFor();
    expect(await question.count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await inDoubt.getByRole('button', { name: 'Start it again' }).click();
    await question.getByRole('button', { name: 'Approve' }).click();
    await waitFor('the answer', async () => {
      const { values } = await client.threads.get<{ answer?: string }>(thread_id);
      return values?.answer === 'approve';
    });
    expect(await statuses(thread_id)).toHaveLength(3);
  });

  it('answers the question of the branch that was forked last, also where another one is newer', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    const input = (content: string) => ({ messages: [{ type: 'human', content }] });
    await client.runs.wait(thread_id, 'desk', { input: input('First') });
    const { checkpoint, parent_checkpoint } = await client.threads.getState(thread_id);
    const [first, origin] = [checkpoint.checkpoint_id!, parent_checkpoint!.checkpoint_id!];
    await client.runs.wait(thread_id, 'desk', { input: input('Second'), checkpointId: origin });
    await client.runs.wait(thread_id, 'desk', { command: { resume: 'no' }, checkpointId: first });
    const textsOf = async (): Promise<string[]> => {
      const { values } = await client.threads.getState<{ messages: { content: string }[] }>(thread_id);
      return values.messages.map(({ content }) => content);
    };
    expect(await textsOf()).toEqual(['First', 'The refund was refused.']);

    const page = await open(`/playground?assistant=desk&thread=${thread_id}`);
    await page.getByRole('list', { name: 'Conversation' }).getByText('Second').first().waitFor();
    await page.getByRole('region', { name: 'Question' }).getByRole('button', { name: 'Approve' }).click();
    await expectSoon(textsOf, ['Second', 'The refund was refused.']);
    expect(await page.getByText('no longer waits for an answer').count()).toBe(0);
  });

  it('reads the run of another client, and its end', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    await client.runs.create(thread_id, 'pipeline', { input: { step_ms: Number(LONG_MS) } });
    await waitFor('the first step', async () => (await client.threads.getState(thread_id)).next.join() === 'step_1');
    const page = await open(`/playground?assistant=pipeline&thread=${thread_id}`);
    await stopButton(page).waitFor();
    const stopped = page.getByRole('region', { name: 'Stopped run' });
    expect(await stopped.count()).toBe(0);
    await cancelRun(thread_id);
    await stopped.getByText('The run stopped before step_1.').waitFor();
  });

  it('stops the run of the thread that it shows', async () => {
    const page = await open('/playground?assistant=pipeline');
    const first = await startRun(page);
    await page.getByRole('button', { name: 'New thread' }).click();
    await page.waitForURL((url) => !url.searchParams.has('thread'));
    await stopButton(page).waitFor({ state: 'detached' });
    const second = await startRun(page);
    await page.goBack();
    await page.locator(`a[href*="${first}"]`, { hasText: 'Checkpoints' }).waitFor();
    await stopButton(page).click();
    await waitFor('the end of the first run', async () => (await statuses(first)).join() === 'interrupted');
    expect(await statuses(second)).toEqual(['running']);
    await cancelRun(second);
  });

  it('stops a run that has not begun, after a reload', async () => {
    const page = await open('/playground?assistant=pipeline');
    await page.route('**/runs/stream', (route) =>
      route.continue({ postData: { ...(route.request().postDataJSON() as object), after_seconds: 3_600 } }),
    );
    const thread = await startRun(page, 'pending');
    await page.reload();
    await stopButton(page).click();
    await waitFor('the end of the run', async () => (await statuses(thread)).join() === 'interrupted');
    await stopButton(page).waitFor({ state: 'detached' });
  });

  it('keeps the answer of a run whose thread was read before the run had ended', async () => {
    const page = await open('/playground?assistant=curt');
    const [read, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let reads = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/history')) reads += 1;
    });
    await page.route(
      '**/history',
      async (route) => {
        read.resolve();
        await ended.promise;
        await route.fulfill({ json: [] });
      },
      { times: 1 },
    );
    await page.route('**/runs/stream', async (route) => {
      await read.promise;
      await route.continue();
    });
    await page.getByLabel('Message', { exact: true }).fill('Hello');
    await page.keyboard.press('Enter');
    await waitFor('the history to be read again', () => reads > 1);
    ended.resolve();
    await stopButton(page).waitFor({ state: 'detached' });
    const messages = page.getByRole('list', { name: 'Conversation' }).getByRole('listitem');
    await expectSoon(() => messages.count(), 2);
    await page.getByText('Fine').waitFor();
  });

  it('gives up a stream that the server refuses again and again, and requests it at intervals until then', async () => {
    const page = await open('/playground?assistant=pipeline');
    const thread = await startRun(page);
    const requested: number[] = [];
    await page.route(/\/runs\/[^/]+\/stream/, (route) => {
      requested.push(Date.now());
      return route.fulfill({ status: 503, json: { detail: 'The issuer is away', code: 'issuer_unavailable' } });
    });
    await page.reload();
    await page.getByRole('alert').getByText('The issuer is away').waitFor();
    await stopButton(page).waitFor({ state: 'detached' });
    expect(await page.getByText(/connection to the server is lost/).count()).toBe(0);
    expect(requested.length).toBeGreaterThan(5);
    const pauses = requested.slice(1).map((at, index) => at - requested[index]);
    expect(Math.min(...pauses)).toBeGreaterThan(1_500);
    // The SDK's client logs why it has given up.
    expect(served.browser.complaints.splice(0)).toEqual([expect.stringContaining('HTTP 503')]);
    await cancelRun(thread);
  });

  it('closes the stream of a run when it is left, also that of a run that is created later', async () => {
    const page = await open('/playground?assistant=pipeline');
    const thread = await startRun(page);
    const closed = () => page.waitForEvent('requestfailed', (request) => /\/runs\/.*stream/.test(request.url()));
    const joined = () => page.waitForRequest(/\/runs\/[^/]+\/stream/);
    const checkpoints = page.getByRole('link', { name: 'Checkpoints' });
    await Promise.all([closed(), checkpoints.click()]);
    await Promise.all([joined(), page.goBack()]);
    await Promise.all([closed(), checkpoints.click()]);
    expect(await statuses(thread)).toEqual(['running']);
    await cancelRun(thread);

    await page.goto(`${served.gantry.url}/console/playground?assistant=pipeline`);
    const left = Promise.withResolvers<void>();
    await page.route('**/threads', async (route) => {
      await left.promise;
      await route.continue();
    });
    await page.getByRole('spinbutton').first().fill(LONG_MS);
    const [creating] = await Promise.all([
      page.waitForRequest('**/threads'),
      page.getByRole('button', { name: 'Run', exact: true }).click(),
    ]);
    await page.getByRole('link', { name: 'Threads', exact: true }).click();
    await page.getByRole('heading', { name: 'Threads', exact: true }).waitFor();
    const late = closed();
    left.resolve();
    await late;
    const { thread_id } = (await (await creating.response())!.json()) as { thread_id: string };
    await waitFor('the run', async () => (await statuses(thread_id)).join() === 'running');
    expect(new URL(page.url()).search).toBe('');
    await cancelRun(thread_id);
  });

  describe('a second run on a thread', () => {
    /** Starts a run that is on until it is stopped, and then a short one, by the strategy. Resolves to the thread. */
    async function sendTwice(page: Page, strategy: string): Promise<string> {
      await page.goto(`${served.gantry.url}/console/playground?assistant=pipeline&strategy=${strategy}`);
      const thread = await startRun(page);
      await page.getByRole('spinbutton').first().fill('1');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      return thread;
    }

    it.each([
      ['interrupt', 'success,interrupted'],
      ['rollback', 'success'],
    ])('stops the one that is on: %s', async (strategy, outcome) => {
      const page = await open('/playground');
      const thread = await sendTwice(page, strategy);
      await waitFor('the outcome', async () => (await statuses(thread)).join() === outcome);
      await stopButton(page).waitFor({ state: 'detached' });
    });

    it('waits in the queue of the server: enqueue', async () => {
      const page = await open('/playground');
      const thread = await sendTwice(page, 'enqueue');
      await page.getByText('one run is queued').waitFor();
      const [, first] = await served.gantry.client().runs.list(thread);
      expect((await statuses(thread)).join()).toBe('pending,running');
      await served.gantry.client().runs.cancel(thread, first.run_id);
      await page.getByText('one run is queued').waitFor({ state: 'detached' });
      await stopButton(page).waitFor({ state: 'detached' });
      expect((await statuses(thread)).join()).toBe('success,interrupted');
    });

    it('is refused with the words of the server: reject', async () => {
      const page = await open('/playground');
      const thread = await sendTwice(page, 'reject');
      await page.getByRole('alert').getByText('409').waitFor();
      expect(await statuses(thread)).toHaveLength(1);
      await stopButton(page).click();
      await waitFor('the end of the first', async () => (await statuses(thread)).join() === 'interrupted');
    });
  });
});
