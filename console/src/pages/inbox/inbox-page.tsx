import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { sdk } from '../../api/sdk';
import { findStatus } from '../../api/thread-status';
import { useUrlState } from '../../app/url-state';
import { Empty, ErrorBox, Loading } from '../../ui/feedback';
import { findWaiting, messagesQuery, questionsNow, type Waiting } from './waiting';
import { InterruptForm } from '../../ui/interrupt-form';
import { Conversation } from '../../ui/messages';
import { Page } from '../../ui/page';
import { ANSWERED, continuationOf, isInDoubt, type Question, summaryOf } from '../../ui/questions';
import { Time } from '../../ui/time';
import { notify, notifyError } from '../../ui/toast';
import { VirtualList } from '../../ui/virtual-list';

const WATCH_MS = 3_000;
/** Height in pixels that a row of the list is assumed to have until it is rendered. */
const ROW_ESTIMATE = 60;
/** Keys that approve, reject and edit: the buttons of a question have them in `data-key`. */
const ANSWER_KEYS: ReadonlySet<string> = new Set(['a', 'r', 'e']);
const WITHOUT_SCROLL = { preventScroll: true };
const OWN_KEYS = 'input, textarea, select, [contenteditable], [role=dialog]';

/** Whether a key is for what has the focus. The target of an event hides an editor in a shadow root; its path has all of it. */
const isForFocused = (event: KeyboardEvent): boolean =>
  event.composedPath().some((each) => each instanceof Element && each.matches(OWN_KEYS));

/** The thread below another one in the list, or above it where that is the last one. */
function neighbourOf(threadId: string, all: readonly Waiting[]): string | undefined {
  const at = all.findIndex((each) => each.threadId === threadId);
  return (all[at + 1] ?? all[at - 1])?.threadId;
}

/**
 * Whether the run of an answer has not stopped yet: the thread's other questions can't be answered before.
 * @param listedAt when the list was read, in which the thread is once its run has stopped
 */
function useIsContinuing(item: Waiting | undefined, listedAt: number): boolean {
  const { data, dataUpdatedAt } = useQuery({
    queryKey: ['status of continued', item?.threadId],
    queryFn: () => findStatus(item!.threadId),
    enabled: item !== undefined,
    refetchInterval: WATCH_MS,
    gcTime: 0,
  });
  if (!item || data === null) return false;
  return data === undefined || data.status === 'busy' || (data.status === 'interrupted' && dataUpdatedAt > listedAt);
}

export default function InboxPage() {
  const [{ thread }, setState] = useUrlState();
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const wasMovedByKey = useRef(false);
  const waiting = useQuery({
    queryKey: ['waiting'],
    queryFn: findWaiting,
    refetchInterval: WATCH_MS,
    refetchOnMount: 'always',
  });
  const all = waiting.data ?? [];
  const at = all.findIndex(({ threadId }) => threadId === thread);
  /** The thread whose answer was sent last, with the questions that it asks besides. */
  const [continued, setContinued] = useState<Waiting>();
  const unlisted = at < 0 && continued?.threadId === thread ? continued : undefined;
  const isContinuing = useIsContinuing(unlisted, waiting.dataUpdatedAt);
  const shown = all[at] ?? (isContinuing ? unlisted : undefined);
  /** The thread in the address, and the list; undefined once the page was left. */
  const place = useRef<{ thread: string | undefined; all: Waiting[] }>(undefined);
  useEffect(() => {
    place.current = { thread, all };
    return () => (place.current = undefined);
  });
  // What another page had read before may be answered since.
  const isCurrent = waiting.isFetchedAfterMount;

  const first = isCurrent ? all[0]?.threadId : undefined;
  useEffect(() => {
    // The thread in the address stays selected when the list changes above it, and another one never takes its place.
    if (!thread && first) setState({ thread: first });
  }, [thread, first, setState]);

  useEffect(() => {
    // After the list has rendered the row, and without the browser's own scrolling beside that of the list.
    if (wasMovedByKey.current) list.current?.querySelector<HTMLElement>('[aria-current=true]')?.focus(WITHOUT_SCROLL);
    wasMovedByKey.current = false;
  }, [at]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isForFocused(event) || event.metaKey || event.ctrlKey || event.altKey) return;
      const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
      if (step !== undefined && all.length > 0) {
        event.preventDefault();
        const next = Math.min(Math.max(at + step, 0), all.length - 1);
        setState({ thread: all[next].threadId });
        wasMovedByKey.current = next !== at;
      }
      // A key that is held down answers one question, not those that follow.
      if (!ANSWER_KEYS.has(event.key) || event.repeat) return;
      document.querySelector<HTMLButtonElement>(`[data-answers] [data-key=${event.key}]`)?.click();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });

  const answer = async (item: Waiting, question: Question, value: unknown): Promise<void> => {
    if (!item.assistantId) return notifyError('The thread names no assistant: answer it by the API.');
    setBusy(true);
    try {
      // A node that asks again does so by the same id.
      const isSame = ({ id, value: asked }: Question): boolean =>
        id === question.id && JSON.stringify(asked) === JSON.stringify(question.value);
      // The graph would ignore an answer that comes too late, or take it for that to another question.
      if (!(await questionsNow(item.threadId)).some(isSame)) throw new Error(ANSWERED);
      const run = { ...continuationOf(question, value), multitaskStrategy: 'reject' as const };
      await sdk.runs.create(item.threadId, item.assistantId, run);
      notify('Answer sent: the run continues.');
      const neighbour = neighbourOf(item.threadId, place.current?.all ?? []);
      // One run starts all nodes again whose outcome is unknown.
      const remaining = isInDoubt(question) ? [] : item.questions.filter((other) => other !== question);
      setContinued(remaining.length > 0 ? { ...item, questions: remaining } : undefined);
      // The thread leaves the list at once, also if the list is being read; what else it asks comes with a later refetch.
      await queries.cancelQueries({ queryKey: ['waiting'] });
      queries.setQueryData<Waiting[]>(['waiting'], (before) =>
        before?.filter(({ threadId }) => threadId !== item.threadId),
      );
      // Where the page was left, or another thread chosen meanwhile, that stays. Another question of the same thread comes first.
      if (place.current?.thread !== item.threadId || remaining.length > 0) return;
      setState({ thread: neighbour });
    } catch (error) {
      notifyError(error);
      void waiting.refetch();
    } finally {
      setBusy(false);
    }
  };

  const call = {
    method: 'POST',
    path: '/threads/search',
    body: { status: 'interrupted', sort_by: 'state_updated_at', sort_order: 'asc' },
    js: 'threads.search({ status: "interrupted", sortBy: "state_updated_at", sortOrder: "asc" })',
    python: 'threads.search(status="interrupted", sort_by="state_updated_at", sort_order="asc")',
  } as const;
  return (
    <Page
      title="Interrupt inbox"
      fills
      call={call}
      beside={<span className="text-xs text-muted tabular-nums">{waiting.data && all.length}</span>}
      actions={
        <span className="hidden text-xs text-muted md:inline">
          <Key name="j" /> <Key name="k" /> move · <Key name="a" /> approve · <Key name="e" /> edit · <Key name="r" />{' '}
          reject
        </span>
      }
    >
      {waiting.isError && (
        <div className="p-4 sm:p-6">
          <ErrorBox error={waiting.error} retry={() => void waiting.refetch()} />
        </div>
      )}
      {waiting.isPending && <Loading lines={6} />}
      {waiting.data && all.length === 0 && !shown && (
        <Empty icon="inbox" title="Nothing waits for a person">
          A run that calls interrupt() stops and asks here. Try the assistant “approval” in the Playground.
        </Empty>
      )}
      {(all.length > 0 || shown) && (
        <div className="flex min-h-0 flex-1 flex-col md:grid md:grid-cols-[20rem_minmax(0,1fr)]">
          <div
            ref={list}
            className="max-h-48 shrink-0 overflow-auto border-b border-line md:max-h-none md:border-r md:border-b-0"
          >
            <VirtualList
              items={all}
              keyOf={({ threadId }) => threadId}
              label="Waiting"
              estimate={ROW_ESTIMATE}
              selected={at}
            >
              {(item, index) => (
                <button
                  type="button"
                  aria-current={index === at}
                  onClick={() => setState({ thread: item.threadId })}
                  className={`w-full border-b border-line px-4 py-2.5 text-left -outline-offset-2 ${index === at ? 'bg-hover' : 'hover:bg-hover'}`}
                >
                  <span className="flex items-baseline gap-2">
                    <span className="min-w-0 flex-1 truncate font-medium">{summaryOf(item.questions[0])}</span>
                    {item.questions.length > 1 && (
                      <span className="text-xs text-muted">{item.questions.length} questions</span>
                    )}
                  </span>
                  <span className="mt-0.5 flex gap-2 text-xs text-muted">
                    <span className="min-w-0 flex-1 truncate">{item.graphId}</span>
                    <Time at={item.since} />
                  </span>
                </button>
              )}
            </VirtualList>
          </div>
          <div className="min-h-0 flex-1 overflow-auto p-4 sm:p-6">
            {shown ? (
              <WaitingThread
                key={shown.threadId}
                item={shown}
                isBusy={isBusy || at < 0}
                answer={(question, value) => void answer(shown, question, value)}
              />
            ) : thread && isCurrent ? (
              <Empty icon="inbox" title="This thread no longer waits for an answer">
                It was answered, or its run was stopped.{' '}
                <Link to={`/threads/${thread}`} className="text-accent underline">
                  See the thread
                </Link>
                , or choose another one that waits.
              </Empty>
            ) : (
              <Loading />
            )}
          </div>
        </div>
      )}
    </Page>
  );
}

function Key({ name }: { name: string }) {
  return <kbd className="rounded border border-strong-line bg-surface px-1 font-mono text-2xs">{name}</kbd>;
}

interface WaitingThreadProps {
  item: Waiting;
  isBusy: boolean;
  answer: (question: Question, value: unknown) => void;
}

/** Questions of a thread, below its last messages. The forms appear with the messages, which would move them otherwise. */
function WaitingThread({ item, isBusy, answer }: WaitingThreadProps) {
  const messages = useQuery({ ...messagesQuery(item), placeholderData: keepPreviousData });
  if (messages.isPending) return <Loading />;
  return (
    <div className="mx-auto max-w-3xl space-y-6">
      <p className="text-xs text-muted">
        <Link to={`/threads/${item.threadId}`} className="font-mono text-accent underline">
          {item.threadId}
        </Link>
      </p>
      {messages.isError && <ErrorBox error={messages.error} retry={() => void messages.refetch()} />}
      {messages.data && messages.data.length > 0 && <Conversation messages={messages.data} />}
      {item.questions.map((question, index) => (
        <section
          key={question.id ?? index}
          aria-label={`Question ${index + 1}`}
          {...(index === 0 && { 'data-answers': true })}
          className="rounded-lg border border-wait/50 bg-wait-soft p-4"
        >
          <h2 className="mb-2 font-semibold text-wait">{summaryOf(question)}</h2>
          <InterruptForm
            question={question}
            threadId={item.threadId}
            isBusy={isBusy}
            answer={(value) => answer(question, value)}
          />
        </section>
      ))}
    </div>
  );
}
