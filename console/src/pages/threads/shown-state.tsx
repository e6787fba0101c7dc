import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { sdk } from '../../api/sdk';
import { useUrlState } from '../../app/url-state';
import { Button, buttonClass } from '../../ui/button';
import { Loaded } from '../../ui/feedback';
import { JsonDiff } from '../../ui/json-diff';
import { JsonView } from '../../ui/json-view';
import { Facts, Section } from '../../ui/page';
import { notify, notifyError } from '../../ui/toast';
import { idOf, metadataOf, type State, valuesQuery } from './states';

/** The nested graphs that a state's tasks run. */
function namespacesOf({ tasks }: State): { name: string; namespace: string }[] {
  return tasks.flatMap(({ name, checkpoint }) => {
    const namespace = checkpoint?.checkpoint_ns as string | undefined;
    return namespace ? [{ name, namespace }] : [];
  });
}

interface DifferenceProps {
  threadId: string;
  before: State | undefined;
  after: State;
}

function Difference({ threadId, before, after }: DifferenceProps) {
  const [old, current] = [useQuery(valuesQuery(threadId, before)), useQuery(valuesQuery(threadId, after))];
  return (
    <Loaded of={old}>
      {(oldValues) => (
        <Loaded of={current}>{(values) => <JsonDiff before={oldValues ?? undefined} after={values} />}</Loaded>
      )}
    </Loaded>
  );
}

interface Props {
  shown: State;
  /** States that it can be compared with. */
  states: State[];
  threadId: string;
  assistantId: string | undefined;
  onEdit: (state: State) => void;
  onOpen: (subgraph: string) => void;
}

/** One state, with what can be done at it, and its difference to the one before it or any other. */
export function ShownState({ shown, states, threadId, assistantId, onEdit, onOpen }: Props) {
  const [{ compare, subgraph }, setState] = useUrlState();
  const queries = useQueryClient();
  const parentId = shown.parent_checkpoint?.checkpoint_id;
  const other = states.find((state) => idOf(state) === (compare ?? parentId));
  const { run_id: runId } = metadataOf(shown);
  const values = useQuery(valuesQuery(threadId, shown));

  const replay = async (): Promise<void> => {
    if (!assistantId) return;
    try {
      const run = await sdk.runs.create(threadId, assistantId, { input: null, checkpoint: shown.checkpoint as never });
      notify(`A run resumes from this checkpoint: ${run.run_id.slice(0, 8)}…`);
      await queries.invalidateQueries();
    } catch (error) {
      notifyError(error);
    }
  };

  return (
    <div className="min-w-0 space-y-5">
      <div className="flex flex-wrap gap-2">
        <Button small icon="edit" onClick={() => onEdit(shown)}>
          Edit the state
        </Button>
        {!subgraph && (
          <Link
            to={`/playground?${new URLSearchParams({ thread: threadId, checkpoint: idOf(shown), ...(assistantId && { assistant: assistantId }) }).toString()}`}
            className={buttonClass('plain', true)}
          >
            Fork in the Playground
          </Link>
        )}
        {assistantId && !subgraph && shown.next.length > 0 && (
          <Button small icon="retry" onClick={() => void replay()}>
            Replay from here
          </Button>
        )}
      </div>
      <Facts
        facts={[
          [
            'Checkpoint',
            <span key="id" className="font-mono text-xs">
              {idOf(shown)}
            </span>,
          ],
          ['Next', shown.next.join(', ') || '—'],
          ...(runId
            ? [
                [
                  'Run',
                  <Link key="run" to={`/runs/${runId}`} className="font-mono text-xs text-accent underline">
                    {runId}
                  </Link>,
                ] as [string, ReactNode],
              ]
            : []),
        ]}
      />
      {shown.tasks.length > 0 && (
        <Section title="Tasks">
          {namespacesOf(shown).map(({ name, namespace }) => (
            <Button key={namespace} small icon="threads" onClick={() => onOpen(namespace)}>
              Open the states of {name}
            </Button>
          ))}
          <JsonView value={shown.tasks} open={2} />
        </Section>
      )}
      <Section
        title="Difference"
        beside={
          <select
            aria-label="Compare with"
            className="field h-7 w-auto text-xs"
            value={other ? idOf(other) : ''}
            onChange={({ target }) => setState({ compare: target.value || undefined })}
          >
            <option value="">nothing to compare with</option>
            {states
              .filter((state) => state !== shown)
              .map((state) => (
                <option key={idOf(state)} value={idOf(state)}>
                  step {metadataOf(state).step} · {idOf(state).slice(0, 8)}
                </option>
              ))}
          </select>
        }
      >
        <Difference threadId={threadId} before={other} after={shown} />
      </Section>
      <Section title="Values">
        <Loaded of={values}>{(shownValues) => <JsonView value={shownValues} open={1} />}</Loaded>
      </Section>
    </div>
  );
}
