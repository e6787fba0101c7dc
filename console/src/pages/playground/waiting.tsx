import type { ThreadState } from '@langchain/langgraph-sdk';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { sdk } from '../../api/sdk';
import { findStatus } from '../../api/thread-status';
import { Button } from '../../ui/button';
import { InterruptForm } from '../../ui/interrupt-form';
import { ANSWERED, isInDoubt, type Question, questionsOf, resumeOf, summaryOf } from '../../ui/questions';
import { notifyError } from '../../ui/toast';
import { questionsNow } from '../inbox/waiting';

const WATCH_MS = 2_000;
/** Statuses of a thread whose last run has left nodes. */
const STOPPED: ReadonlySet<string> = new Set(['interrupted', 'error']);

interface Props {
  threadId: string | undefined;
  /**
   * Interrupts as the SDK has them: the questions, or one item without id and value where nodes are left and nothing is asked.
   * None while a run is read.
   */
  interrupts: readonly Question[];
  /** The state that is shown, with the questions that are open: its tasks list those of parallel ones that are answered as well. */
  head: (ThreadState & { interrupts?: readonly Question[] }) | undefined;
  /** Whether that is the newest state of the thread: an older one, of another branch, asks what the thread doesn't. */
  isNewest: boolean;
  /** Reads the questions again. */
  refresh: () => void;
  /** Whether a run is being read. */
  isRunning: boolean;
  /** Creates a run, and resolves at its end to whether the server has accepted it. */
  proceed: (command?: { resume: unknown }) => Promise<boolean>;
  /** Reads a run that another client has created. */
  join: (runId: string) => void;
}

/** Shows what a thread waits for after the end of a run: answers to questions, or to be continued. */
export function Waiting({ threadId, interrupts, head, isNewest, refresh, isRunning, proceed, join }: Props) {
  /** The questions before the run that is read: their forms keep what was entered. */
  const [before, setBefore] = useState<readonly Question[]>([]);
  /** How often each question was answered: a node that asks a second time does so by the same id, with an empty form. */
  const [answers, setAnswers] = useState<Record<string, number>>({});
  const [isSending, setSending] = useState(false);
  const asked = interrupts.filter(({ id, value }) => id !== undefined || value !== undefined);
  const open = head?.interrupts && new Set(head.interrupts.map(({ id }) => id));
  const questions = isRunning ? before : asked.filter(({ id }) => !open || open.has(id));
  const doubts = useDoubts(threadId, !isRunning && isNewest && questions.length > 0);
  const inDoubt = doubts.data ?? [];
  if (!threadId) return null;
  const answer = async (question: Question, value: unknown): Promise<void> => {
    const { id = '' } = question;
    setSending(true);
    try {
      // The graph would ignore an answer that comes too late, or take it for that to another question.
      const isLate = isNewest && id !== '' && !(await questionsNow(threadId)).some((asked) => asked.id === id);
      if (isLate) {
        notifyError(ANSWERED);
        void doubts.refetch();
        return refresh();
      }
      setBefore(questions);
      if (!(await proceed({ resume: resumeOf(question, value) }))) return;
      setAnswers((counts) => ({ ...counts, [id]: (counts[id] ?? 0) + 1 }));
    } catch (error) {
      notifyError(error);
    } finally {
      setSending(false);
    }
  };
  if (!isRunning && questions.length === 0 && interrupts.length > 0)
    return <Stopped threadId={threadId} next={head?.next ?? []} proceed={() => void proceed()} join={join} />;
  return (
    <>
      <Doubts questions={inDoubt} threadId={threadId} proceed={() => void proceed()} />
      {questions.map((question, index) => (
        <section
          key={`${question.id ?? index} ${answers[question.id ?? ''] ?? 0}`}
          aria-label={`Question ${index + 1}`}
          hidden={isRunning || inDoubt.length > 0}
          className="mt-4 rounded-lg border border-wait/50 bg-wait-soft p-4"
        >
          <h2 className="mb-2 font-semibold text-wait">The run waits for an answer</h2>
          <InterruptForm
            question={question}
            threadId={threadId}
            isBusy={isRunning || isSending}
            answer={(value) => void answer(question, value)}
          />
        </section>
      ))}
    </>
  );
}

/**
 * Questions of the server about nodes in doubt, beside those that ask. No checkpoint has them, and until such nodes are
 * started again, the thread takes no answer to the other questions.
 */
function useDoubts(threadId: string | undefined, isAsking: boolean): UseQueryResult<Question[]> {
  return useQuery({
    // Another one after each run, without the answer from before it.
    queryKey: ['doubts of thread', threadId, isAsking],
    queryFn: async () => (await questionsNow(threadId!)).filter(isInDoubt),
    enabled: isAsking && threadId !== undefined,
    gcTime: 0,
  });
}

interface DoubtsProps {
  questions: readonly Question[];
  threadId: string;
  proceed: () => void;
}

/** Shows what the server asks about nodes in doubt. */
function Doubts({ questions, threadId, proceed }: DoubtsProps) {
  return questions.map((question) => (
    <section
      key={question.id}
      aria-label={summaryOf(question)}
      className="mt-4 rounded-lg border border-wait/50 bg-wait-soft p-4"
    >
      <h2 className="mb-2 font-semibold text-wait">{summaryOf(question)}</h2>
      <InterruptForm question={question} threadId={threadId} isBusy={false} answer={proceed} />
    </section>
  ));
}

interface StoppedProps {
  threadId: string;
  /** Nodes that are left. */
  next: readonly string[];
  proceed: () => void;
  join: (runId: string) => void;
}

/**
 * Continues a run that was stopped, by a person or at a breakpoint: nothing that the page knows distinguishes the two. One that
 * has stopped at nodes in doubt is shown with what the server asks about them, which no checkpoint has. The run of another
 * client, which has nodes left as well, is read to its end.
 */
function Stopped({ threadId, next, proceed, join }: StoppedProps) {
  const { data: thread } = useQuery({
    queryKey: ['run on thread', threadId],
    queryFn: async () => {
      const found = await findStatus(threadId);
      const [run] = found?.status === 'busy' ? await sdk.runs.list(threadId, { status: 'running', limit: 1 }) : [];
      return { ...found, runId: run?.run_id };
    },
    refetchInterval: ({ state: { data } }) => (data?.status === 'busy' ? WATCH_MS : false),
    gcTime: 0,
  });
  const runId = thread?.runId;
  useEffect(() => {
    if (runId) join(runId);
    // Once for each run: `join` is another function after each render.
  }, [runId]);
  if (next.length === 0 || !thread?.status || !STOPPED.has(thread.status)) return null;
  const inDoubt = questionsOf(thread.interrupts).filter(isInDoubt);
  if (inDoubt.length > 0) return <Doubts questions={inDoubt} threadId={threadId} proceed={proceed} />;
  return (
    <section aria-label="Stopped run" className="card mt-4 flex flex-wrap items-center gap-3 p-4">
      <p className="min-w-0 flex-1 break-words">
        The run stopped before <span className="font-mono">{next.join(', ')}</span>.
      </p>
      <Button onClick={proceed}>Continue</Button>
    </section>
  );
}
