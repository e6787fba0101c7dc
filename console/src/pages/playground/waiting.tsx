import type { ThreadState } from '@langchain/langgraph-sdk';
import { useQuery } from '@tanstack/react-query';
import { sdk } from '../../api/sdk';
import { Button } from '../../ui/button';
import { InterruptForm } from '../../ui/interrupt-form';
import { type Question, resumeOf, unanswered } from '../../ui/questions';

const WATCH_MS = 2_000;

interface Props {
  threadId: string | undefined;
  /** Interrupts as the SDK has them: the questions, or one item without id and value where nodes are left and nothing is asked. */
  interrupts: readonly Question[];
  /** The state that is shown. */
  head: ThreadState | undefined;
  proceed: (command?: { resume: unknown }) => void;
}

/** Shows what a thread waits for after the end of a run: answers to questions, or to be continued. */
export function Waiting({ threadId, interrupts, head, proceed }: Props) {
  const asked = interrupts.filter(({ id, value }) => id !== undefined || value !== undefined);
  const questions = unanswered(asked, head?.tasks ?? []);
  if (interrupts.length === 0 || !threadId) return null;
  if (questions.length === 0) return <Stopped threadId={threadId} next={head?.next ?? []} proceed={() => proceed()} />;
  return questions.map((question, index) => (
    <section
      key={question.id ?? index}
      aria-label={`Question ${index + 1}`}
      className="mt-4 rounded-lg border border-wait/50 bg-wait-soft p-4"
    >
      <h2 className="mb-2 font-semibold text-wait">The run waits for an answer</h2>
      <InterruptForm
        question={question}
        isBusy={false}
        answer={(value) => proceed({ resume: resumeOf(question, value) })}
      />
    </section>
  ));
}

interface StoppedProps {
  threadId: string;
  /** Nodes that are left. */
  next: readonly string[];
  proceed: () => void;
}

/** Continues a run that was stopped, by a person or at a breakpoint: nothing that the page knows distinguishes the two. */
function Stopped({ threadId, next, proceed }: StoppedProps) {
  const status = useQuery({
    queryKey: ['thread-status', threadId],
    queryFn: async () => (await sdk.threads.get(threadId)).status,
    refetchInterval: ({ state: { data } }) => (data === 'busy' ? WATCH_MS : false),
  });
  // The run of another client, which the page does not read, has nodes left as well.
  if (next.length === 0 || !status.data || status.data === 'busy') return null;
  return (
    <section aria-label="Stopped run" className="card mt-4 flex flex-wrap items-center gap-3 p-4">
      <p className="min-w-0 flex-1 break-words">
        The run stopped before <span className="font-mono">{next.join(', ')}</span>.
      </p>
      <Button onClick={proceed}>Continue</Button>
    </section>
  );
}
