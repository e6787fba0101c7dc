import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { sdk } from '../../api/sdk';
import { useUrlState } from '../../app/url-state';
import { Button, buttonClass } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Empty, ErrorBox, Loaded } from '../../ui/feedback';
import { JsonDiff } from '../../ui/json-diff';
import { JsonEditor, jsonProblem } from '../../ui/json-editor';
import { JsonView } from '../../ui/json-view';
import { Facts, Section } from '../../ui/page';
import { rowsOf, useMore, whileOnePage } from '../../ui/paged';
import { Time } from '../../ui/time';
import { notify, notifyError } from '../../ui/toast';
import { VirtualList } from '../../ui/virtual-list';

const PAGE_SIZE = 50;
/** Height in pixels that a row of the list is assumed to have until it is rendered. */
const ROW_ESTIMATE = 54;

type State = Awaited<ReturnType<typeof sdk.threads.getHistory>>[number];
const idOf = (state: State): string => state.checkpoint.checkpoint_id ?? '';
interface StepMetadata {
  step?: number;
  source?: string;
  run_id?: string;
}

function EditState({ threadId, state, onClose }: { threadId: string; state: State; onClose: () => void }) {
  const [text, setText] = useState(() => JSON.stringify(state.values, null, 2));
  const [asNode, setAsNode] = useState('');
  const [error, setError] = useState<unknown>();
  const queries = useQueryClient();
  const save = async (): Promise<void> => {
    try {
      await sdk.threads.updateState(threadId, {
        values: JSON.parse(text) as Record<string, unknown>,
        checkpoint: state.checkpoint,
        ...(asNode && { asNode }),
      });
      await queries.invalidateQueries();
      notify('The state is edited: a new checkpoint follows the one that you edited.');
      onClose();
    } catch (refused) {
      setError(refused);
    }
  };
  return (
    <Dialog title="Edit the state" open onClose={onClose} wide>
      <div className="space-y-3">
        <p className="text-muted">
          Keep only the keys that shall change: their reducers apply, as for the writes of a node. A new checkpoint is
          made.
        </p>
        <JsonEditor text={text} onChange={setText} label="Values" />
        <label className="block">
          <span className="mb-1 block font-medium">As node</span>
          <input
            className="field"
            value={asNode}
            placeholder="the last one that wrote"
            onChange={({ target }) => setAsNode(target.value)}
          />
        </label>
        {error !== undefined && <ErrorBox error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            disabled={text.trim() === '' || jsonProblem(text) !== undefined}
            onClick={() => void save()}
          >
            Save
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** The nested graphs that a state's tasks run. */
function namespacesOf({ tasks }: State): { name: string; namespace: string }[] {
  return tasks.flatMap(({ name, checkpoint }) => {
    const namespace = checkpoint?.checkpoint_ns as string | undefined;
    return namespace ? [{ name, namespace }] : [];
  });
}

/** Names of the nested graphs on the way to a namespace, such as `outer:id|inner:id`, each with its own namespace. */
function pathTo(namespace: string): { name: string; namespace: string }[] {
  const parts = namespace.split('|');
  return parts.map((part, index) => ({ name: part.split(':')[0], namespace: parts.slice(0, index + 1).join('|') }));
}

/** Leads from a nested graph back to those that it is in. */
function SubgraphPath({ namespace, onOpen }: { namespace: string; onOpen: (namespace: string) => void }) {
  const places = [{ name: 'Thread', namespace: '' }, ...pathTo(namespace)];
  return (
    <nav aria-label="Subgraph" className="mb-4 flex flex-wrap items-center gap-1.5">
      {places.map((place, index) => (
        <span key={place.namespace} className="flex items-center gap-1.5">
          {index > 0 && <span className="text-muted">›</span>}
          {place.namespace === namespace ? (
            <span aria-current="page" className="font-medium">
              {place.name}
            </span>
          ) : (
            <button type="button" className="text-accent underline" onClick={() => onOpen(place.namespace)}>
              {place.name}
            </button>
          )}
        </span>
      ))}
    </nav>
  );
}

/** The checkpoints of a thread or of a nested graph, newest first. */
export function Checkpoints({ threadId, assistantId }: { threadId: string; assistantId: string | undefined }) {
  const [{ checkpoint, subgraph = '' }, setState] = useUrlState();
  // The state that is edited stays the same when a run adds newer ones.
  const [edited, setEdited] = useState<State>();
  const openSubgraph = (namespace: string): void =>
    setState({ subgraph: namespace || undefined, checkpoint: undefined, compare: undefined });
  const history = useInfiniteQuery({
    queryKey: ['history', threadId, subgraph],
    queryFn: ({ pageParam }) =>
      sdk.threads.getHistory(threadId, {
        limit: PAGE_SIZE,
        ...(subgraph && { checkpoint: { checkpoint_ns: subgraph } }),
        ...(pageParam && { before: { configurable: { checkpoint_id: pageParam } } }),
      }),
    initialPageParam: '',
    getNextPageParam: (last) => (last.length < PAGE_SIZE ? undefined : idOf(last.at(-1)!)),
    select: rowsOf<State>,
    refetchInterval: whileOnePage(4_000),
  });
  const more = useMore(history);
  const isBelow = checkpoint && history.data && !history.data.some((state) => idOf(state) === checkpoint);
  useEffect(() => {
    if (isBelow) more();
  }, [isBelow, more]);

  return (
    <>
      {edited && <EditState threadId={threadId} state={edited} onClose={() => setEdited(undefined)} />}
      {subgraph && <SubgraphPath namespace={subgraph} onOpen={openSubgraph} />}
      <Loaded of={history} lines={6}>
        {(states) =>
          states.length === 0 ? (
            <Empty icon="threads" title={`This ${subgraph ? 'subgraph' : 'thread'} has no checkpoint yet`} />
          ) : (
            <States
              states={states}
              threadId={threadId}
              assistantId={assistantId}
              onEdit={setEdited}
              onOpen={openSubgraph}
              onOlder={history.hasNextPage ? more : undefined}
            />
          )
        }
      </Loaded>
    </>
  );
}

interface StatesProps {
  states: State[];
  threadId: string;
  assistantId: string | undefined;
  onEdit: (state: State) => void;
  onOpen: (subgraph: string) => void;
  /** Reads older states, if there are any. */
  onOlder: (() => void) | undefined;
}

/** The list of states, and a comparison of the selected one with the one before it or any other. */
function States({ states, threadId, assistantId, onEdit, onOpen, onOlder }: StatesProps) {
  const [{ checkpoint, compare, subgraph }, setState] = useUrlState();
  const queries = useQueryClient();
  const shown = states.find((state) => idOf(state) === checkpoint) ?? states[0];
  const parentId = shown.parent_checkpoint?.checkpoint_id;
  const other = states.find((state) => idOf(state) === (compare ?? parentId));
  const metadata = (shown.metadata ?? {}) as StepMetadata;

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
    <div className="grid gap-6 lg:grid-cols-[18rem_minmax(0,1fr)]">
      <div className="max-h-[70vh] overflow-auto pl-1">
        <VirtualList
          items={states}
          keyOf={idOf}
          label="Checkpoints"
          estimate={ROW_ESTIMATE}
          selected={checkpoint ? states.indexOf(shown) : undefined}
          rowClass="border-l border-line pb-1 pl-4"
        >
          {(state) => {
            const { step, source } = (state.metadata ?? {}) as StepMetadata;
            const isShown = state === shown;
            return (
              <>
                <span
                  className={`absolute top-3.5 -left-1 size-2 rounded-full ${isShown ? 'bg-accent' : 'bg-strong-line'}`}
                />
                <button
                  type="button"
                  aria-current={isShown}
                  onClick={() => setState({ checkpoint: idOf(state), compare: undefined })}
                  className={`w-full rounded-md px-2.5 py-1.5 text-left hover:bg-hover ${isShown ? 'bg-hover' : ''}`}
                >
                  <span className="flex items-baseline gap-2">
                    <span className="font-medium tabular-nums">Step {step}</span>
                    <span className="text-xs text-muted">{source}</span>
                    <span className="ml-auto text-xs text-muted">
                      <Time at={state.created_at} />
                    </span>
                  </span>
                  <span className="block truncate text-xs text-muted">
                    {state.next.length > 0 ? `next: ${state.next.join(', ')}` : 'end'}
                  </span>
                </button>
              </>
            );
          }}
        </VirtualList>
        {onOlder && (
          <Button small className="ml-4" onClick={onOlder}>
            Older ones
          </Button>
        )}
      </div>
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
            ...(metadata.run_id
              ? [
                  [
                    'Run',
                    <Link key="run" to={`/runs/${metadata.run_id}`} className="font-mono text-xs text-accent underline">
                      {metadata.run_id}
                    </Link>,
                  ] as [string, React.ReactNode],
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
                    step {((state.metadata ?? {}) as StepMetadata).step} · {idOf(state).slice(0, 8)}
                  </option>
                ))}
            </select>
          }
        >
          <JsonDiff before={other?.values} after={shown.values} />
        </Section>
        <Section title="Values">
          <JsonView value={shown.values} open={1} />
        </Section>
      </div>
    </div>
  );
}
