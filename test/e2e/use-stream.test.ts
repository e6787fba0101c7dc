/** @jest-environment ./test/support/browser-environment.cjs */
import type { Client } from '@langchain/langgraph-sdk';
import type { Window } from 'happy-dom';
import { ChatPage, type ChatProps, type ChatState, type UseChat, useRuns, useThread } from '../support/chat-page';
import { Gantry, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';

const SENTENCE = 'one two three four five six seven eight nine ten';
const human = (content: string) => ({ messages: [{ type: 'human', content }] });
/** A text of this many words, streamed slowly enough to interfere. */
const prose = (content: string, words: number) => ({ ...human(content), words, letter_ms: 10 });
const wordsOf = (count: number): string => Array.from({ length: count }, (_, index) => `w${index}`).join(' ');

const { localStorage } = (globalThis as unknown as { window: Window }).window;

describe('useStream', () => {
  let gantry: Gantry;
  let client: Client;
  let pages: ChatPage[] = [];

  beforeAll(async () => {
    gantry = await startGantry({ graphProcesses: 1 });
    client = gantry.client();
    // Where the hook of the SDK says what it shows as well.
    jest.spyOn(console, 'error').mockImplementation();
  });

  afterAll(async () => {
    await gantry?.stop();
    jest.restoreAllMocks();
  });

  afterEach(() => {
    for (const page of pages) page.close();
    pages = [];
    localStorage.clear();
  });

  function open(useChat: UseChat, graph: string, thread: string | null, rest: Partial<ChatProps> = {}): ChatPage {
    const page = new ChatPage(useChat, { url: gantry.url, graph, thread, storage: localStorage, ...rest });
    pages.push(page);
    return page;
  }

  const threadOf = (page: ChatPage): string => page.chat.threadId!;
  /** Runs of the thread, newest first. */
  const statusesOf = async (page: ChatPage): Promise<string[]> =>
    (await client.runs.list(threadOf(page))).map(({ status }) => status);
  /** For a page that isn't busy with the run: it shows the last words before it learns of the end. */
  const untilEnded = async (page: ChatPage, ...statuses: string[]): Promise<void> => {
    const ended = await waitFor('the runs to end', async () => {
      const now = await statusesOf(page);
      const isOver = now.length >= statuses.length && !now.includes('pending') && !now.includes('running');
      return isOver && now;
    });
    expect(ended).toEqual(statuses);
  };

  describe.each([
    ['@langchain/langgraph-sdk/react', useRuns],
    ['@langchain/react', useThread],
  ])('of %s', (_, useChat) => {
    it('shows a conversation as it grows, and again after the page is reloaded', async () => {
      const page = open(useChat, 'prose', null);
      await page.chat.send(prose('first', 30));
      await page.untilQuiet(['first', wordsOf(30)]);
      const partial = page.seen.map((texts) => texts[1]).filter((text) => text && text !== wordsOf(30));
      expect(partial.length).toBeGreaterThan(2);
      await page.chat.send(prose('second', 3));
      await page.untilQuiet(['first', wordsOf(30), 'second', wordsOf(3)]);
      page.expectGrown();
      expect(page.error).toBeUndefined();
      expect(new Set(page.chat.messages.map(({ id }) => id)).size).toBe(4);

      const again = open(useChat, 'prose', threadOf(page));
      await again.untilQuiet(['first', wordsOf(30), 'second', wordsOf(3)]);
      expect(await statusesOf(page)).toEqual(['success', 'success']);
    });

    it('shows a question, accepts the answer and shows the result', async () => {
      const page = open(useChat, 'desk', null);
      await page.chat.send(human('a refund'));
      await waitFor('the question', () => page.question !== undefined);
      expect(page.question).toEqual({ question: 'Approve?', request: 'a refund' });
      // A user who opens the page now is asked as well.
      const other = open(useChat, 'desk', threadOf(page));
      await waitFor('the question', () => other.question !== undefined);

      await page.chat.answer('yes');
      await page.untilQuiet(['a refund', 'Your refund is on its way.']);
      expect(page.question).toBeUndefined();
      await untilEnded(page, 'success', 'success');
    });

    it('stops a run, and accepts the next message', async () => {
      const page = open(useChat, 'prose', null);
      void page.chat.send(prose('stop me', 2_000));
      await page.untilText('w3');
      await page.chat.stop();
      await waitFor('the page to be quiet', () => !page.isBusy);
      await untilEnded(page, 'interrupted');
      await page.chat.send(prose('again', 3));
      // A hook that learns of the stopped run's end only now takes it for that of the new one.
      await waitFor('the answer', () => page.texts.includes(wordsOf(3)));
      await untilEnded(page, 'success', 'interrupted');
      await waitFor('the page to be quiet', () => !page.isBusy);
      expect(page.texts).toEqual(expect.arrayContaining(['stop me', 'again']));
      const again = open(useChat, 'prose', threadOf(page));
      await again.untilQuiet(['stop me', 'again', wordsOf(3)]);
    });

    it('rejoins a run during which the page was closed, and misses and repeats nothing', async () => {
      const first = open(useChat, 'prose', null);
      void first.chat.send(prose('go on', 60));
      await first.untilText('w5');
      const thread = threadOf(first);
      first.close();
      const second = open(useChat, 'prose', thread);
      await second.untilText('w20');
      expect(second.isBusy).toBe(true);
      await second.untilQuiet(['go on', wordsOf(60)]);
      second.expectGrown();
      expect(second.error).toBeUndefined();
      expect(await statusesOf(second)).toEqual(['success']);
    });

    it('stops loading when the run that it waits for is cancelled before it began', async () => {
      const page = open(useChat, 'talk', null);
      await page.chat.send(human('first'));
      await page.untilQuiet(['first', SENTENCE]);
      await gantry.killWorker();
      try {
        void page.chat.send(human('nobody is there'));
        await waitFor('the run', async () => (await statusesOf(page)).length === 2);
        expect(page.isBusy).toBe(true);
        const [{ run_id }] = await client.runs.list(threadOf(page));
        await client.runs.cancel(threadOf(page), run_id);
        await waitFor('the page to be quiet', () => !page.isBusy);
        expect(page.error).toBeUndefined();
        expect(await statusesOf(page)).toEqual(['interrupted', 'success']);
      } finally {
        await gantry.startWorker();
      }
    });

    it('shows the error of the graph', async () => {
      const page = open(useChat, 'fail', null);
      await page.chat.send({ message: 'The tool is broken' });
      await waitFor('the error', () => page.error !== undefined);
      expect(page.error).toContain('The tool is broken');
      expect(page.isBusy).toBe(false);
      expect(await statusesOf(page)).toEqual(['error']);
    });

    it('goes back to a checkpoint and forks from there', async () => {
      const page = open(useChat, 'talk', null);
      await page.chat.send(human('first'));
      await page.chat.send(human('second'));
      await page.untilQuiet(['first', SENTENCE, 'second', SENTENCE]);
      const history = await client.threads.getHistory<ChatState>(threadOf(page), { limit: 20 });
      const before = history.find(({ values, next }) => values.messages?.length === 2 && next.length === 0)!;
      await page.chat.send(human('other'), before.checkpoint.checkpoint_id!);
      await page.untilQuiet(['first', SENTENCE, 'other', SENTENCE]);
      const again = open(useChat, 'talk', threadOf(page));
      await again.untilQuiet(['first', SENTENCE, 'other', SENTENCE]);
    });

    describe('in two tabs', () => {
      it('shows a run to its end also in the tab that was opened in the middle', async () => {
        const one = open(useChat, 'prose', null);
        void one.chat.send(prose('for both', 50));
        await one.untilText('w3');
        const two = open(useChat, 'prose', threadOf(one));
        await two.untilText('w10');
        await Promise.all([one, two].map((page) => page.untilQuiet(['for both', wordsOf(50)])));
        for (const page of [one, two]) page.expectGrown();
      });

      it('shows in one tab that the run was stopped in the other', async () => {
        const one = open(useChat, 'prose', null);
        void one.chat.send(prose('stop me', 2_000));
        await one.untilText('w3');
        const two = open(useChat, 'prose', threadOf(one));
        await two.untilText('w10');
        await one.chat.stop();
        await waitFor('both to be quiet', () => !one.isBusy && !two.isBusy);
        expect([one.error, two.error]).toEqual([undefined, undefined]);
        expect(await statusesOf(one)).toEqual(['interrupted']);
      });

      it('accepts messages that are sent in both at once, and loses none', async () => {
        const one = open(useChat, 'talk', null, { withHistory: false });
        await one.chat.send(human('first'));
        const two = open(useChat, 'talk', threadOf(one), { withHistory: false });
        await two.untilQuiet(['first', SENTENCE]);
        await Promise.all([one.chat.send(human('left')), two.chat.send(human('right'))]);
        await untilEnded(one, 'success', 'success', 'success');
        await waitFor('both to be quiet', () => !one.isBusy && !two.isBusy);
        const again = open(useChat, 'talk', threadOf(one), { withHistory: false });
        await waitFor('the conversation', () => again.texts.length === 6);
        const [, , third, answer, fourth, last] = again.texts;
        expect([third, fourth].sort()).toEqual(['left', 'right']);
        expect([answer, last]).toEqual([SENTENCE, SENTENCE]);
      });
    });
  });

  describe('of @langchain/langgraph-sdk/react', () => {
    it('has the branches of a conversation, and switches between them', async () => {
      const page = open(useRuns, 'talk', null);
      await page.chat.send(human('first'));
      await page.chat.send(human('second'));
      const [, , beginning] = (await client.threads.getHistory(threadOf(page), { limit: 20 })).filter(
        ({ metadata }) => (metadata as { source?: string }).source === 'loop',
      );
      await page.chat.send(human('other'), beginning.checkpoint.checkpoint_id!);
      await page.untilQuiet(['first', SENTENCE, 'other', SENTENCE]);

      const { history, of, show } = page.chat.branches!;
      expect(history.map(({ values }) => values.messages?.length ?? 0)).toEqual([0, 1, 2, 2, 3, 4]);
      const { branch, branchOptions } = of(2)!;
      expect(branchOptions).toHaveLength(2);
      show(branchOptions!.find((option) => option !== branch)!);
      await page.untilTexts(['first', SENTENCE, 'second', SENTENCE]);
      page.chat.branches!.show(branch!);
      await page.untilTexts(['first', SENTENCE, 'other', SENTENCE]);
    });
  });

  describe('of @langchain/react', () => {
    it('shows the events of one tab in another that only listens', async () => {
      const one = open(useThread, 'desk', null);
      await one.chat.send(human('a refund'));
      await waitFor('the question', () => one.question !== undefined);
      const two = open(useThread, 'desk', threadOf(one));
      await waitFor('the question', () => two.question !== undefined);
      await one.chat.answer('yes');
      await Promise.all([one, two].map((page) => page.untilQuiet(['a refund', 'Your refund is on its way.'])));
      expect(one.question).toBeUndefined();
      // A page that didn't answer itself keeps the question until it is opened again.
      const again = open(useThread, 'desk', threadOf(one));
      await again.untilQuiet(['a refund', 'Your refund is on its way.']);
      expect(again.question).toBeUndefined();
    });
  });
});
