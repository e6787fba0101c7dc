import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { sdk } from '../../api/sdk';
import { useUrlState } from '../../app/url-state';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Empty, ErrorBox, Loaded, Loading } from '../../ui/feedback';
import { JsonEditor, jsonProblem } from '../../ui/json-editor';
import { rowsOf, useMore, whileOnePage } from '../../ui/paged';
import { Time } from '../../ui/time';
import { notify } from '../../ui/toast';
import { VirtualList } from '../../ui/virtual-list';
import { ShownState } from './shown-state';
import { FIELDS, idOf, metadataOf, type State, valuesQuery } from './states';

const PAGE_SIZE = 50;
/** Height in pixels that a row of the list is assumed to have until it is rendered. */
const ROW_ESTIMATE = 54;

interface EditProps {
  threadId: string;
  state: State;
  onClose: () => void;
}

function EditState({ threadId, state, onClose }: EditProps) {
  const values = useQuery(valuesQuery(threadId, state));
  return (
    <Dialog title="Edit the state" open onClose={onClose} wide keeps>
      <Loaded of={values}>
        {(read) => <EditForm threadId={threadId} state={state} values={read} onClose={onClose} />}
      </Loaded>
    </Dialog>
  );
}

function EditForm({ threadId, state, values, onClose }: EditProps & { values: unknown }) {
  const [text, setText] = useState(() => JSON.stringify(values, null, 2));
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
  );
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
        select: [...FIELDS],
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

/** The list of states, and the one that the address names; the newest where it names none. */
function States({ states, threadId, assistantId, onEdit, onOpen, onOlder }: StatesProps) {
  const [{ checkpoint }, setState] = useUrlState();
  const shown = checkpoint ? states.find((state) => idOf(state) === checkpoint) : states[0];
  return (
    <div className="grid gap-6 lg:grid-cols-[18rem_minmax(0,1fr)]">
      <div className="max-h-[70vh] overflow-auto pl-1">
        <VirtualList
          items={states}
          keyOf={idOf}
          label="Checkpoints"
          estimate={ROW_ESTIMATE}
          selected={checkpoint && shown ? states.indexOf(shown) : undefined}
          rowClass="border-l border-line pb-1 pl-4"
        >
          {(state) => {
            const { step, source } = metadataOf(state);
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
      {shown ? (
        <ShownState
          shown={shown}
          states={states}
          threadId={threadId}
          assistantId={assistantId}
          onEdit={onEdit}
          onOpen={onOpen}
        />
      ) : onOlder ? (
        <Loading lines={6} />
      ) : (
        <Empty icon="threads" title="This checkpoint no longer exists">
          Its run was rolled back, its states were pruned, or the address is not complete.
        </Empty>
      )}
    </div>
  );
}
