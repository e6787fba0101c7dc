import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser';
import { answerInstead, waitingThread } from '../support/canned-answers';
import { seriousFindings, serveConsole } from '../support/console';
import { main } from '../support/console-pages';
import { waitFor } from '../support/wait-for';

describeInBrowser('the console with data of a form that nobody expects', () => {
  const served = serveConsole({ graphProcesses: 1 });

  async function openInbox(threads: Record<string, unknown>, answered: [string, unknown][] = []): Promise<Page> {
    const page = await served.browser.open('about:blank');
    const waiting = Object.entries(threads).map(([id, value]) => waitingThread(id, value));
    await answerInstead(page, '/threads/search', () => waiting.slice(answered.length));
    for (const [id, value] of Object.entries(threads)) {
      await answerInstead(page, `/threads/${id}`, () => waitingThread(id, value));
      await answerInstead(page, `/threads/${id}/runs`, (body) => {
        const { command } = body as { command: { resume: Record<string, unknown> } };
        answered.push([id, command.resume[`of ${id}`]]);
        return {};
      });
    }
    await page.goto(`${served.gantry.url}/console/inbox`);
    return page;
  }

  it('asks every question of the inbox, whatever form the others have', async () => {
    const node = {
      type: 'object',
      properties: { name: { type: 'string' }, next: { anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] } },
    };
    const page = await openInbox({
      object: { question: { a: 1 } },
      requests: { action_requests: { a: 1 } },
      property: { question: 'Of no type', schema: { type: 'object', properties: { a: null } } },
      recursive: { question: 'Of a tree', response_schema: { $ref: '#/$defs/Node', $defs: { Node: node } } },
      itself: { question: 'Of itself', schema: { $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/A' } } } },
      plain: 'Plain',
    });
    const list = page.getByRole('list', { name: 'Waiting' });
    const question = page.getByRole('region', { name: 'Question 1' });
    for (const [summary, answer] of [
      ['{"question":{"a":1}}', question.getByRole('button', { name: 'Approve' })],
      ['{"action_requests":{"a":1}}', question.getByRole('button', { name: 'Approve' })],
      ['Of no type', question.getByRole('textbox', { name: 'a', exact: true })],
      ['Of a tree', question.getByRole('textbox', { name: 'next' })],
      ['Of itself', question.getByRole('textbox', { name: 'Value' })],
      ['Plain', question.getByRole('button', { name: 'Approve' })],
    ] as const) {
      await list.getByText(summary, { exact: true }).click();
      await question.getByRole('heading', { name: summary }).waitFor();
      await answer.waitFor();
    }
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('answers one question for a key that is held down', async () => {
    const answered: [string, unknown][] = [];
    const page = await openInbox({ first: 'First', second: 'Second', third: 'Third' }, answered);
    const heading = page.getByRole('region', { name: 'Question 1' }).getByRole('heading');
    await heading.getByText('First').waitFor();
    await page.keyboard.down('a');
    await heading.getByText('Second').waitFor();
    await page.getByRole('button', { name: 'Reject', disabled: false }).waitFor();
    await page.keyboard.down('a');
    await page.keyboard.up('a');
    await page.keyboard.press('r');
    await heading.getByText('Third').waitFor();
    expect(answered).toEqual([
      ['first', 'approve'],
      ['second', 'reject'],
    ]);
  });

  it('sends no value while the text of an editor is no JSON', async () => {
    const answered: [string, unknown][] = [];
    const inbox = await openInbox({ first: 'First', second: 'Second' }, answered);
    await inbox.getByRole('button', { name: 'Answer' }).click();
    await inbox.getByRole('textbox', { name: 'Answer as JSON' }).click();
    await inbox.keyboard.type('12,');
    await inbox.getByRole('button', { name: 'Send the answer' }).click();
    expect(await inbox.locator('input:invalid:focus').count()).toBe(1);
    expect(await seriousFindings(inbox)).toEqual([]);
    await inbox.getByRole('textbox', { name: 'Answer as JSON' }).click();
    await inbox.keyboard.press('End');
    await inbox.keyboard.press('Backspace');
    await inbox.getByRole('button', { name: 'Send the answer' }).click();
    await inbox.getByRole('heading', { name: 'Second' }).waitFor();
    expect(answered).toEqual([['first', 12]]);

    const client = served.gantry.client();
    await client.store.putItem(['edited'], 'item', { a: 1 });
    const page = await served.visit(`/store?namespace=${encodeURIComponent('["edited"]')}`);
    await page.getByRole('button', { name: 'Edit item' }).click();
    const dialog = page.getByRole('dialog');
    const editor = dialog.getByRole('textbox', { name: 'Value' });
    // A dialog that opens moves the focus once more.
    await waitFor('the text in the editor', async () => {
      await editor.click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText('{"a": 2}, oops');
      return (await editor.textContent())?.trim() === '{"a": 2}, oops' || undefined;
    });
    await dialog.getByRole('button', { name: 'Store' }).click();
    expect(await dialog.locator('input:invalid:focus').count()).toBe(1);
    expect((await client.store.getItem(['edited'], 'item'))?.value).toEqual({ a: 1 });
  });

  it('shows a conversation with what can not be rendered in it', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    const thread = await client.threads.get(thread_id);
    const page = await served.browser.open('about:blank');
    let messages: object[] = [];
    await answerInstead(page, `/threads/${thread_id}`, () => ({ ...thread, values: { messages } }));
    const show = async (...given: object[]): Promise<void> => {
      messages = [{ type: 'human', id: 'a', content: 'Hello' }, ...given];
      await page.goto(`${served.gantry.url}/console/threads/${thread_id}`);
    };
    // A tree of quotes that the renderer of Markdown can't walk, and a picture whose address is no text.
    await show(
      { type: 'ai', id: 'b', content: `${'>'.repeat(20_000)} deep` },
      { type: 'ai', id: 'c', content: [{ type: 'image_url', image_url: { url: 1 } }] },
    );
    const conversation = page.getByRole('list', { name: 'Conversation' });
    await conversation.getByText('Hello').waitFor();
    await conversation.getByText(/>>> deep/).waitFor();
    await conversation.getByRole('alert').waitFor();
    await waitFor('both errors', async () =>
      [/call stack/, /startsWith/].every((error) => served.browser.complaints.some((line) => error.test(line))),
    );
    served.browser.complaints.splice(0);
    for (const broken of [{ content: [null] }, { content: 'x', tool_calls: {} }, { content: 'x', type: { a: 1 } }]) {
      await show({ type: 'ai', id: 'b', ...broken });
      await page.getByRole('tab', { name: 'Values' }).waitFor();
      await main(page).getByText('"Hello"').waitFor();
    }
  });

  it('offers nothing to do at a checkpoint that it has not found', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    const state = (index: number): object => ({
      ...{ next: ['tell'], tasks: [], metadata: {}, parent_checkpoint: null },
      created_at: '2026-11-20T10:00:00.000000+00:00',
      checkpoint: { thread_id, checkpoint_id: `c${index}`, checkpoint_ns: '' },
    });
    const older = Promise.withResolvers<void>();
    const page = await served.browser.open('about:blank');
    await page.route(`**/threads/${thread_id}/history`, async (route) => {
      const { before } = route.request().postDataJSON() as { before?: object };
      if (before) await older.promise;
      await route.fulfill({ json: Array.from({ length: before ? 1 : 50 }, (_, index) => state(index)) });
    });
    await answerInstead(page, `/threads/${thread_id}/state/checkpoint`, () => ({ values: {} }));
    await page.goto(`${served.gantry.url}/console/threads/${thread_id}?tab=checkpoints&checkpoint=gone`);
    await page.getByRole('list', { name: 'Checkpoints' }).getByRole('listitem').first().waitFor();
    await main(page).getByRole('status', { name: 'Loading' }).waitFor();
    const actions = main(page).getByText(/Edit the state|Replay from here|Fork in the Playground/);
    expect(await actions.count()).toBe(0);
    older.resolve();
    await main(page).getByText('This checkpoint no longer exists').waitFor();
    expect(await actions.count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('list', { name: 'Checkpoints' }).getByRole('button').first().click();
    await actions.first().waitFor();
  });

  it('compares states of 10,000 messages', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    const messages = Array.from({ length: 10_001 }, (_, n) => ({
      id: `m${n}`,
      type: 'human',
      content: `Message ${n}`,
    }));
    const state = (id: string, parent: string | null): object => ({
      next: [],
      tasks: [],
      metadata: { step: 1, source: 'loop' },
      created_at: '2026-11-20T10:00:00.000000+00:00',
      checkpoint: { thread_id, checkpoint_id: id, checkpoint_ns: '' },
      parent_checkpoint: parent && { thread_id, checkpoint_id: parent, checkpoint_ns: '' },
    });
    const page = await served.browser.open('about:blank');
    let [before, after]: unknown[][] = [messages.slice(0, -1), messages.slice(1)];
    await answerInstead(page, `/threads/${thread_id}/history`, () => [state('c2', 'c1'), state('c1', null)]);
    await answerInstead(page, `/threads/${thread_id}/state/checkpoint`, (body) => {
      const { checkpoint } = body as { checkpoint: { checkpoint_id: string } };
      return { values: { messages: checkpoint.checkpoint_id === 'c2' ? after : before } };
    });
    await page.goto(`${served.gantry.url}/console/threads/${thread_id}?tab=checkpoints`);
    await main(page).getByText('messages.m10000', { exact: true }).waitFor();
    expect(
      await main(page)
        .getByText(/^messages\./)
        .allTextContents(),
    ).toEqual(['messages.m0', 'messages.m10000']);
    // Texts have no ids: each differs from the one that is in its place now.
    const texts = messages.map(({ content }) => content);
    [before, after] = [texts.slice(0, -1), texts.slice(1)];
    await page.reload();
    await main(page).getByRole('button', { name: '9900 more changes' }).waitFor();
    expect(
      await main(page)
        .getByText(/^messages\./)
        .count(),
    ).toBe(100);
  });
});
