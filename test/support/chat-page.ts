import { useStream as useThreadStream } from '@langchain/react';
import type { Message, ThreadState } from '@langchain/langgraph-sdk';
import { useStream as useRunStream } from '@langchain/langgraph-sdk/react';
import { configure, render } from '@testing-library/react/pure';
import type { HTMLElement, Storage } from 'happy-dom';
import { createElement, type ReactElement, useLayoutEffect, useState } from 'react';
import { waitFor } from './wait-for';

configure({ reactStrictMode: true });

export interface ChatState extends Record<string, unknown> {
  messages: Message[];
}

/** The interface that both hooks offer to a page. */
export interface Chat {
  threadId: string | null;
  messages: { id: string | undefined; text: string }[];
  question: unknown;
  error: unknown;
  isLoading: boolean;
  /** @param checkpointId checkpoint to continue from; the thread's latest if absent */
  send: (input: object, checkpointId?: string) => Promise<void>;
  answer: (value: unknown) => Promise<void>;
  stop: () => Promise<void>;
  /** Present only for the hook that keeps them. */
  branches?: {
    history: ThreadState<ChatState>[];
    of: (index: number) => { branch?: string | undefined; branchOptions?: string[] | undefined } | undefined;
    show: (branch: string) => void;
  };
}

export interface ChatProps {
  url: string;
  graph: string;
  thread: string | null;
  /** Storage in which the page keeps the id of its run. */
  storage: Storage;
  /** Whether runs continue from the state that the page has seen; otherwise from the thread's latest one. */
  withHistory?: boolean;
}

export type UseChat = (props: ChatProps) => Chat;

/** The hook of the SDK, which streams one run at a time. */
export function useRuns({ url, graph, thread, storage, withHistory = true }: ChatProps): Chat {
  const [threadId, onThreadId] = useState(thread);
  const stream = useRunStream<ChatState>({
    apiUrl: url,
    assistantId: graph,
    threadId,
    onThreadId,
    reconnectOnMount: () => storage,
    fetchStateHistory: withHistory,
  });
  return {
    threadId,
    messages: stream.messages.map(({ id, content }) => ({ id, text: content as string })),
    question: (stream.interrupt as { value?: unknown } | undefined)?.value,
    // In jest, Node's own errors are no `Error`: the hook, which knows a stopped request by that, takes it for a failure.
    error: (stream.error as Error | undefined)?.name === 'AbortError' ? undefined : stream.error,
    isLoading: stream.isLoading,
    send: (input, checkpointId) =>
      stream.submit(
        input as ChatState,
        checkpointId ? { checkpoint: { checkpoint_id: checkpointId, checkpoint_ns: '', checkpoint_map: {} } } : {},
      ),
    answer: (resume) => stream.submit(undefined, { command: { resume } }),
    stop: async () => stream.stop(),
    ...(withHistory && {
      branches: {
        history: stream.history,
        of: (index) => stream.getMessagesMetadata(stream.messages[index], index),
        show: stream.setBranch,
      },
    }),
  };
}

/** The newest hook, which listens to all that happens on the thread. */
export function useThread({ url, graph, thread }: ChatProps): Chat {
  const [threadId, onThreadId] = useState(thread);
  const stream = useThreadStream<ChatState>({ apiUrl: url, assistantId: graph, threadId, onThreadId });
  return {
    threadId: stream.threadId,
    messages: stream.messages.map(({ id, text }) => ({ id, text })),
    question: stream.interrupt?.value,
    error: stream.error,
    isLoading: stream.isLoading,
    send: (input, forkFrom) => stream.submit(input as ChatState, { ...(forkFrom !== undefined && { forkFrom }) }),
    answer: (value) => stream.respond(value),
    stop: () => stream.stop(),
  };
}

/** A chat, mounted as a page mounts it. What it shows is read from the document. */
export class ChatPage {
  /** Every list of texts that was shown, as it changed. */
  readonly seen: string[][] = [];
  chat!: Chat;
  private readonly root: HTMLElement;
  readonly close: () => void;

  constructor(useChat: UseChat, props: ChatProps) {
    const Shown = (): ReactElement => {
      const chat = useChat(props);
      const { messages, question, error, isLoading } = chat;
      const texts = messages.map(({ text }) => text);
      useLayoutEffect(() => {
        this.chat = chat;
        if (texts.join('\n') !== this.seen.at(-1)?.join('\n')) this.seen.push(texts);
      });
      return createElement(
        'main',
        { 'aria-busy': isLoading },
        createElement('ul', null, ...texts.map((text, index) => createElement('li', { key: index }, text))),
        question ? createElement('dialog', null, JSON.stringify(question)) : null,
        error ? createElement('strong', null, error instanceof Error ? error.message : JSON.stringify(error)) : null,
      );
    };
    const { container, unmount } = render(createElement(Shown));
    this.root = container as unknown as HTMLElement;
    this.close = unmount;
  }

  get texts(): string[] {
    return [...this.root.querySelectorAll('li')].map(({ textContent }) => textContent);
  }

  get isBusy(): boolean {
    return this.root.querySelector('main')?.getAttribute('aria-busy') === 'true';
  }

  get question(): unknown {
    const shown = this.root.querySelector('dialog')?.textContent;
    return shown ? JSON.parse(shown) : undefined;
  }

  get error(): string | undefined {
    return this.root.querySelector('strong')?.textContent;
  }

  /** Waits until the page shows no run in flight and exactly these texts. */
  async untilQuiet(texts: string[]): Promise<void> {
    await waitFor('the end of the run', () => !this.isBusy);
    await this.untilTexts(texts);
  }

  async untilTexts(texts: string[]): Promise<void> {
    await waitFor('the texts', () => this.texts.join('\n') === texts.join('\n')).catch(() => undefined);
    expect(this.texts).toEqual(texts);
  }

  async untilText(part: string): Promise<void> {
    await waitFor(`"${part}" on the page`, () => this.texts.some((text) => text.includes(part)));
  }

  /** Checks that the shown texts only ever grew to the present ones: nothing came twice or disappeared. */
  expectGrown(): void {
    const final = this.texts;
    for (const texts of this.seen) {
      const grown = texts.map((text, index) => final[index]?.slice(0, text.length));
      expect(texts).toEqual(grown);
    }
  }
}
