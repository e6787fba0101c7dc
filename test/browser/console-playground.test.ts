import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser';
import { seriousFindings, serveConsole, takePicture } from '../support/console';
import { expectSoon, waitFor } from '../support/wait-for';

/** Globals of the page. */
declare const navigator: { clipboard: { readText: () => Promise<string> } };

const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'console.json');
const WEATHER = 'What is the weather in Oslo?';

describeInBrowser('the playground of the console', () => {
  const served = serveConsole({ graphProcesses: 1, graphs: GRAPHS });
  const { open } = served;

  async function ask(page: Page, text: string): Promise<void> {
    await page.getByLabel('Message', { exact: true }).fill(text);
    await page.keyboard.press('Enter');
  }

  const messagesIn = (page: Page): Locator => page.getByRole('list', { name: 'Conversation' }).getByRole('listitem');

  it('streams an answer with a tool call, keeps it in the address, and continues from an edited message', async () => {
    const page = await open('/playground?assistant=agent');
    await ask(page, WEATHER);
    await page.getByRole('button', { name: /get_weather/ }).waitFor();
    await page.getByText(/Here is what I found/).waitFor();
    await waitFor('the thread in the address', async () => page.url().includes('thread='));
    expect(await seriousFindings(page)).toEqual([]);
    await takePicture(page, 'playground');
    await page.getByRole('button', { name: /^Events/ }).click();
    const events = page.getByRole('complementary', { name: 'Events' });
    for (const mode of ['updates', 'tasks']) {
      await events.getByRole('button', { name: mode }).click();
      await events.getByRole('region', { name: mode }).getByRole('listitem').first().waitFor();
    }
    expect(await seriousFindings(page)).toEqual([]);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Share' }).click();
    await waitFor('the link', async () => (await page.evaluate(() => navigator.clipboard.readText())) === page.url());
    await page.reload();
    await page.getByText(/Here is what I found/).waitFor();
    expect(await messagesIn(page).count()).toBe(3);

    await messagesIn(page).first().hover();
    await page.getByRole('button', { name: 'Edit this message and continue from it' }).first().click();
    await page.getByLabel('Edited message').fill('What is the weather in Rome?');
    await page.getByRole('button', { name: 'Send from here' }).click();
    await page
      .getByText(/clear in Rome|in Rome\./)
      .first()
      .waitFor();
    await page.getByText('2 / 2').first().waitFor();
    await page.getByRole('button', { name: 'Earlier branch' }).first().click();
    await page.getByText(WEATHER).waitFor();
    await page.reload();
    await page.getByText('1 / 2').first().waitFor();
    await page.getByText(WEATHER).waitFor();
  });

  describe('an edited message', () => {
    async function editFirst(page: Page, text: string): Promise<void> {
      await messagesIn(page).first().hover();
      await page.getByRole('button', { name: 'Edit this message and continue from it' }).first().click();
      await page.getByLabel('Edited message').fill(text);
      await page.getByRole('button', { name: 'Send from here' }).click();
    }
    const textsOf = async (thread: string): Promise<string[]> => {
      const { values } = await served.gantry.client().threads.getState<{ messages: { content: string }[] }>(thread);
      return values.messages.map(({ content }) => content);
    };

    it('takes the place of one whose run has failed', async () => {
      const page = await open('/playground?assistant=curt');
      await ask(page, 'Fail');
      await page.getByRole('alert').getByText('The model is away').waitFor();
      await editFirst(page, 'Fly');
      await page.getByText('Fine').waitFor();
      const thread = new URL(page.url()).searchParams.get('thread')!;
      expect(await textsOf(thread)).toEqual(['Fly', 'Fine']);
      await messagesIn(page).nth(1).waitFor();
      await expectSoon(() => messagesIn(page).count(), 2);
      // The SDK's client logs why a run has failed.
      served.browser.complaints.splice(0);
    });

    it('takes the place of one that is older than the states that are read at first', async () => {
      const client = served.gantry.client();
      const { thread_id } = await client.threads.create({ graphId: 'curt' });
      await client.runs.wait(thread_id, 'curt', { input: { messages: [{ type: 'human', content: 'First' }] } });
      for (let turn = 0; turn < 120; turn += 1) {
        const messages = [{ type: 'ai', content: `Answer ${turn}` }];
        await client.threads.updateState(thread_id, { values: { messages }, asNode: 'answer' });
      }
      const page = await open(`/playground?assistant=curt&thread=${thread_id}`);
      await page.getByText('Answer 119').waitFor();
      await page.getByRole('list', { name: 'Conversation' }).hover();
      await waitFor('the first message', async () => {
        await page.mouse.wheel(0, -10_000);
        return page.getByText('First', { exact: true }).isVisible();
      });
      await editFirst(page, 'Second');
      await waitFor('the edited message', async () => (await textsOf(thread_id))[0] === 'Second');
      await waitFor('its answer', async () => (await client.threads.get(thread_id)).status === 'idle');
      expect(await textsOf(thread_id)).toEqual(['Second', 'Fine']);
    });
  });

  it('sends pictures and files', async () => {
    const page = await open('/playground?assistant=talk');
    const picture = Buffer.from('iVBORw0KGgo=', 'base64');
    await page.getByLabel('Files', { exact: true }).setInputFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: picture },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('notes') },
    ]);
    await page.getByRole('button', { name: 'Remove notes.txt' }).waitFor();
    await ask(page, 'What is in these?');
    await page.getByText('nine ten').waitFor();
    const client = served.gantry.client();
    const [talked] = await client.threads.search({ metadata: { graph_id: 'talk' } });
    const { values } = await client.threads.getState<{ messages: { content: unknown }[] }>(talked.thread_id);
    expect(values.messages[0].content).toEqual([
      { type: 'text', text: 'What is in these?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${picture.toString('base64')}` } },
      expect.objectContaining({ type: 'file', mime_type: 'text/plain', data: 'bm90ZXM=' }),
    ]);
  });

  it('reports an assistant that does not exist, and selects no other one', async () => {
    const page = await open('/playground?assistant=nobody');
    await page.getByText('There is no assistant “nobody”').waitFor();
    expect(await page.getByLabel('Message', { exact: true }).count()).toBe(0);
  });

  it('has its state in its address: options of the next runs, open panels, stream modes side by side', async () => {
    const state = { strategy: 'rollback', context: '{"user_id":"ada"}', settings: 'open', events: 'open' };
    const query = new URLSearchParams({ assistant: 'memory', ...state, modes: 'updates,debug' });
    const page = await open(`/playground?${query.toString()}`);
    const settings = page.getByRole('complementary', { name: 'Configuration' });
    const user = settings.getByLabel('user_id');
    await user.waitFor();
    expect(await user.inputValue()).toBe('ada');
    expect(await settings.getByLabel('Strategy').inputValue()).toBe('rollback');
    const modes = page.getByRole('group', { name: 'Stream modes' });
    expect(await modes.getByRole('button', { pressed: true }).allTextContents()).toEqual(['updates', 'debug']);
    expect(await seriousFindings(page)).toEqual([]);

    await ask(page, 'Remember that tea is hot');
    await page.getByText('I will remember that tea is hot').waitFor();
    for (const mode of ['updates', 'debug']) {
      const events = page.getByRole('complementary', { name: 'Events' }).getByRole('region', { name: mode });
      await events.getByRole('listitem').first().waitFor();
      expect(await events.getByRole('listitem').first().textContent()).toContain(mode);
    }
    const { items } = await served.gantry.client().store.searchItems(['memories', 'ada']);
    expect(items.map(({ value }) => value)).toEqual([{ fact: 'tea is hot' }]);

    await user.fill('bob');
    await settings.getByLabel('Strategy').selectOption('interrupt');
    await modes.getByRole('button', { name: 'debug' }).click();
    await waitFor('the choices in the address', async () => {
      const { searchParams } = new URL(page.url());
      return (
        ['context', 'strategy', 'modes'].map((name) => searchParams.get(name)).join() ===
        '{"user_id":"bob"},interrupt,updates'
      );
    });
    await page.reload();
    await user.waitFor();
    expect(await user.inputValue()).toBe('bob');
    expect(await settings.getByLabel('Strategy').inputValue()).toBe('interrupt');
    expect(await modes.getByRole('button', { pressed: true }).allTextContents()).toEqual(['updates']);
    await ask(page, 'What do you know?');
    await page.getByText('I know nothing yet.').waitFor();
  });

  it('gives a run the configurable that is written as JSON where the graph declares no fields', async () => {
    const page = await open('/playground?assistant=headers&settings=open');
    const editor = page.getByRole('complementary', { name: 'Configuration' }).getByRole('textbox');
    await editor.click();
    await page.keyboard.insertText('{"x-color": "green", "nested": {"openai_api_key": "sk-1", "max_tokens": 5}}');
    const kept = '{"x-color":"green","nested":{"max_tokens":5}}';
    await waitFor('the value in the address', async () => new URL(page.url()).searchParams.get('config') === kept);
    await page.reload();
    await waitFor('the text in the editor', async () => (await editor.textContent())?.includes('green'));
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const client = served.gantry.client();
    const values = await waitFor('the end of the run', async () => {
      const [thread] = await client.threads.search({ metadata: { graph_id: 'headers' } });
      return thread?.status === 'idle' && thread.values ? thread.values : undefined;
    });
    expect(values).toEqual({ seen: { 'x-color': 5 } });
  });

  it('answers by the form of a question’s schema, and edits an action that waits for approval', async () => {
    const client = served.gantry.client();
    /** A thread on which a run asks, opened in the playground. */
    async function question(request: object): Promise<{ page: Page; form: Locator; answer: () => Promise<unknown> }> {
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, 'inquire', { input: { request } });
      const page = await open(`/playground?assistant=inquire&thread=${thread_id}`);
      const answer = () =>
        waitFor('the answer', async () => (await client.threads.get<{ answer?: unknown }>(thread_id)).values?.answer);
      return { page, form: page.getByRole('region', { name: 'Question' }), answer };
    }
    const fields = { city: { type: 'string' }, days: { type: 'integer' } };
    const asked = await question({ question: 'Where to?', schema: { type: 'object', properties: fields } });
    await asked.form.getByRole('textbox', { name: 'city' }).fill('Oslo');
    await asked.form.getByRole('spinbutton', { name: 'days' }).fill('3');
    expect(await seriousFindings(asked.page)).toEqual([]);
    await asked.form.getByRole('button', { name: 'Send the answer' }).click();
    expect(await asked.answer()).toEqual({ city: 'Oslo', days: 3 });

    const review = await question({ action_requests: [{ name: 'pay', args: { amount: 120 } }] });
    await review.form.getByRole('button', { name: 'Edit' }).click();
    const editor = review.form.getByRole('textbox');
    await waitFor('the text in the editor', async () => {
      await editor.click();
      await review.page.keyboard.press('ControlOrMeta+a');
      await review.page.keyboard.insertText('{"amount": 20}');
      return (await editor.textContent())?.trim() === '{"amount": 20}';
    });
    await review.form.getByRole('button', { name: 'Send the answer' }).click();
    const edited_action = { name: 'pay', args: { amount: 20 } };
    const edit = { type: 'edit', edited_action, editedAction: edited_action };
    expect(await review.answer()).toEqual({ decisions: [edit] });
  });

  describe('the inbox', () => {
    /** A thread on which a graph asks, opened in the inbox. */
    async function question(graph: string, request: object = {}) {
      const client = served.gantry.client();
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, graph, { input: { request } });
      const page = await open(`/inbox?thread=${thread_id}`);
      const values = () =>
        waitFor('the end of the run', async () => {
          const thread = await client.threads.get<{ answer?: unknown; vote?: number }>(thread_id);
          return thread.status === 'idle' ? thread.values : undefined;
        });
      return { page, form: page.getByRole('region', { name: 'Question' }), values };
    }
    const mail = (to: string): object => ({ name: 'mail', args: { to }, description: `Mail to ${to}` });

    it('approves an action of a JavaScript agent', async () => {
      const { page, form, values } = await question('inquire', { actionRequests: [mail('ann')], reviewConfigs: [] });
      await form.getByRole('heading', { name: 'Mail to ann' }).waitFor();
      await page.keyboard.press('a');
      expect(await values()).toMatchObject({ answer: { decisions: [{ type: 'approve' }] } });
    });

    it('decides on each of several actions, by the decisions that the agent allows', async () => {
      const reviewConfigs = [{ actionName: 'mail', allowedDecisions: ['approve', 'edit'] }];
      const { page, form, values } = await question('inquire', {
        actionRequests: [mail('ann'), mail('bob'), { name: 'pay', args: {} }],
        reviewConfigs: [...reviewConfigs, { actionName: 'pay', allowedDecisions: ['reject'] }],
      });
      await form.getByRole('button', { name: 'Decide on each' }).waitFor();
      // No decision is allowed on all of them.
      expect(await form.getByRole('button', { name: /Approve|Reject/ }).count()).toBe(0);
      await page.keyboard.press('e');
      const [first, second, third] = await form.getByRole('combobox').all();
      expect(await first.getByRole('option').allTextContents()).toHaveLength(3);
      await first.selectOption('edit');
      const editor = form.getByRole('textbox', { name: 'Arguments of mail' });
      await waitFor('the text in the editor', async () => {
        await editor.click();
        await page.keyboard.press('ControlOrMeta+a');
        await page.keyboard.insertText('{"to": "cleo"}');
        return (await editor.textContent())?.trim() === '{"to": "cleo"}';
      });
      const send = form.getByRole('button', { name: 'Send the answer' });
      expect(await send.isDisabled()).toBe(true);
      await second.selectOption('approve');
      await third.selectOption('reject');
      await form.getByLabel('Why pay is rejected').fill('Too much');
      expect(await seriousFindings(page)).toEqual([]);
      await send.click();
      const edited_action = { name: 'mail', args: { to: 'cleo' } };
      const edit = { type: 'edit', edited_action, editedAction: edited_action };
      const decisions = [edit, { type: 'approve' }, { type: 'reject', message: 'Too much' }];
      expect(await values()).toMatchObject({ answer: { decisions } });
    });

    it('answers by the schema that interrupt() was given, as it is typed', async () => {
      const { form, values } = await question('vote');
      expect(await form.getByRole('button', { name: 'Approve' }).count()).toBe(0);
      await form.getByRole('spinbutton').pressSequentially('0.05');
      expect(await form.getByRole('spinbutton').inputValue()).toBe('0.05');
      await form.getByRole('button', { name: 'Send the answer' }).click();
      expect(await values()).toEqual({ vote: 0.05 });
    });
  });

  it('sends each of several answers to the question that it is for', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'ask_both', { input: {} });
    const page = await open(`/playground?assistant=ask_both&thread=${thread_id}`);
    const questions = page.getByRole('region', { name: 'Question' });
    await questions.filter({ hasText: 'Second?' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await questions.filter({ hasText: 'Second?' }).getByRole('button', { name: 'Answer' }).click();
    const draft = questions.filter({ hasText: 'Second?' }).getByRole('textbox', { name: 'Answer as JSON' });
    await draft.click();
    await page.keyboard.insertText('"later"');
    await questions.filter({ hasText: 'First?' }).getByRole('button', { name: 'Reject' }).click();
    await questions.filter({ hasText: 'First?' }).waitFor({ state: 'detached' });
    await questions.filter({ hasText: 'Second?' }).waitFor();
    expect(await questions.count()).toBe(1);
    // What was entered for another question is still there.
    expect(await draft.textContent()).toContain('"later"');
    await questions.getByRole('button', { name: 'Send the answer' }).click();
    const values = await waitFor('both answers', async () => {
      const thread = await client.threads.get(thread_id);
      return thread.status === 'idle' ? thread.values : undefined;
    });
    expect(values).toEqual({ first: 'reject', second: 'later' });
  });

  it('gives back a message that the server has refused', async () => {
    const page = await open('/playground?assistant=talk');
    const entered = Promise.withResolvers<void>();
    await page.route(
      '**/runs/stream',
      async (route) => {
        await entered.promise;
        const body = route.request().postDataJSON() as object;
        await route.continue({ postData: { ...body, assistant_id: 'none' } });
      },
      { times: 1 },
    );
    await page
      .getByLabel('Files', { exact: true })
      .setInputFiles([{ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('notes') }]);
    await page.getByRole('button', { name: 'Remove notes.txt' }).waitFor();
    await ask(page, 'What is in it?');
    const message = page.getByLabel('Message', { exact: true });
    await expectSoon(() => message.inputValue(), '');
    await message.fill('And who wrote it?');
    entered.resolve();
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Remove notes.txt' }).waitFor();
    // The message that was entered meanwhile comes after it.
    expect(await message.inputValue()).toBe('What is in it?\n\nAnd who wrote it?');
    expect(await messagesIn(page).count()).toBe(0);
    expect(served.browser.complaints.splice(0)).toEqual([expect.stringContaining('HTTP 4')]);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('nine ten').waitFor();
    expect(await messagesIn(page).count()).toBe(2);
  });
});
