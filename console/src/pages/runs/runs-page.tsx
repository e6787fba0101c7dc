import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useAssistantName, useAssistants } from '../../api/assistants';
import { answerOf, api } from '../../api/client';
import type { Schemas } from '../../api/info';
import { type UrlState, useUrlState } from '../../app/url-state';
import { type Columns, DataTable } from '../../ui/data-table';
import { Empty, Loaded } from '../../ui/feedback';
import { ChoiceFilter, Filters, TextFilter } from '../../ui/filters';
import { Id } from '../../ui/copy-button';
import { objectOf, problemOfObject } from '../../ui/json-object';
import { Page } from '../../ui/page';
import { rowsOf, useMore, whileOnePage } from '../../ui/paged';
import { Status } from '../../ui/status';
import { duration, Time, useNow } from '../../ui/time';

export type FoundRun = Schemas['FoundRun'];

const PAGE_SIZE = 200;
/** Interval in milliseconds at which a list looks for new rows while its first rows are in sight. */
const WATCH_MS = 3_000;
const STATUSES = ['pending', 'running', 'success', 'error', 'timeout', 'interrupted'] as const;
const PERIODS = { '1': 'Last hour', '24': 'Last day', '168': 'Last week' };

const searchRuns = (body: object) => answerOf(api.POST('/runs/search', { body }));

/** The filters of the address as the body of a search. */
function searchOf({ status, assistant, thread, error, metadata, hours }: UrlState): Record<string, unknown> {
  return {
    ...(status && { status: status.split(',') }),
    ...(assistant && { assistant_id: assistant }),
    ...(thread && { thread_id: thread }),
    ...(error && { error }),
    ...(objectOf(metadata) && { metadata: objectOf(metadata) }),
    ...(hours && { created_after: new Date(Date.now() - Number(hours) * 3_600_000).toISOString() }),
  };
}

export function Took({ run }: { run: Pick<FoundRun, 'created_at' | 'started_at' | 'ended_at'> }) {
  const now = useNow();
  if (!run.started_at) return <span className="text-muted">—</span>;
  const end = run.ended_at ? Date.parse(run.ended_at) : Math.max(now, Date.parse(run.started_at));
  return <span className="tabular-nums">{duration(end - Date.parse(run.started_at))}</span>;
}

function useColumns(): Columns<FoundRun> {
  const nameOf = useAssistantName();
  return useMemo(
    () => [
      {
        id: 'run',
        header: 'Run',
        meta: { width: 'minmax(7rem, 0.8fr)' },
        cell: ({ row }) => <Id id={row.original.run_id} />,
      },
      {
        id: 'status',
        header: 'Status',
        meta: { width: '7.5rem' },
        cell: ({ row }) => <Status status={row.original.status} />,
      },
      {
        id: 'assistant',
        header: 'Assistant',
        meta: { width: 'minmax(6rem, 1fr)', wideOnly: true },
        cell: ({ row }) => nameOf(row.original.assistant_id),
      },
      {
        id: 'error',
        header: 'Error',
        meta: { width: 'minmax(6rem, 2fr)', wideOnly: true },
        cell: ({ row: { original } }) => <span className="text-bad">{original.error?.message ?? ''}</span>,
      },
      {
        id: 'attempts',
        header: 'Attempts',
        meta: { width: '5rem', wideOnly: true },
        cell: ({ row: { original } }) => (
          <span className={original.attempts > 1 ? 'font-medium text-wait' : 'text-muted'}>{original.attempts}</span>
        ),
      },
      {
        id: 'took',
        header: 'Took',
        meta: { width: '5.5rem', wideOnly: true },
        cell: ({ row }) => <Took run={row.original} />,
      },
      {
        id: 'created',
        header: 'Created',
        meta: { width: '5.5rem' },
        cell: ({ row }) => <Time at={row.original.created_at} />,
      },
    ],
    [nameOf],
  );
}

export default function RunsPage() {
  const [state, setState] = useUrlState();
  const assistants = useAssistants(state.assistant);
  const columns = useColumns();
  const body = useMemo(() => searchOf(state), [state]);
  const query = useInfiniteQuery({
    queryKey: ['runs', state],
    queryFn: ({ pageParam }) =>
      searchRuns({ ...searchOf(state), limit: PAGE_SIZE, ...(pageParam && { before: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (last) => (last.length < PAGE_SIZE ? undefined : last.at(-1)!.run_id),
    select: rowsOf,
    // Only the rows in sight are refetched often: a long list is not read again as a whole.
    refetchInterval: whileOnePage(WATCH_MS),
  });
  const total = useQuery({
    queryKey: ['runs-count', state],
    queryFn: () => answerOf(api.POST('/runs/count', { body: searchOf(state) })),
    refetchInterval: 10_000,
  });
  const more = useMore(query);
  const set = (name: string) => (value: string | undefined) => setState({ [name]: value });
  const isFiltered = Object.values(state).some(Boolean);

  return (
    <Page
      title="Runs"
      fills
      beside={<span className="text-xs text-muted tabular-nums">{total.data?.toLocaleString()}</span>}
      call={{ method: 'POST', path: '/runs/search', body: { ...body, limit: 100 } }}
    >
      <Filters>
        <ChoiceFilter
          label="Status"
          any="Any status"
          value={state.status}
          options={[
            { value: 'error,timeout', label: 'failed' },
            { value: 'pending,running', label: 'in flight' },
            ...STATUSES,
          ]}
          onChange={set('status')}
        />
        <ChoiceFilter
          label="Assistant"
          any="Any assistant"
          value={state.assistant}
          options={(assistants.data ?? []).map((each) => ({
            value: each.assistant_id!,
            label: each.name ?? each.graph_id!,
          }))}
          onChange={set('assistant')}
        />
        <ChoiceFilter
          label="Created"
          any="Any time"
          value={state.hours}
          options={Object.entries(PERIODS).map(([value, label]) => ({ value, label }))}
          onChange={set('hours')}
        />
        <TextFilter label="Error contains" value={state.error} onChange={set('error')} className="w-44" />
        <TextFilter label="Thread id" value={state.thread} onChange={set('thread')} className="w-40" />
        <TextFilter
          label="Metadata"
          placeholder='{"user": "ada"}'
          value={state.metadata}
          onChange={set('metadata')}
          className="w-44"
          problemOf={problemOfObject}
        />
      </Filters>
      <Loaded of={query} lines={8} inset>
        {(rows) => (
          <DataTable
            label="Runs"
            rows={rows}
            columns={columns}
            rowId={(run) => run.run_id}
            linkOf={(run) => `/runs/${run.run_id}`}
            onEnd={more}
            total={total.data}
            empty={
              <Empty icon="runs" title={isFiltered ? 'No run is like that' : 'Nothing has run yet'}>
                {isFiltered ? 'Take a filter away.' : 'Send a message in the Playground, or create a run by the API.'}
              </Empty>
            }
          />
        )}
      </Loaded>
    </Page>
  );
}
