import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { answerOf, api } from '../../api/client';
import { type UrlState, useUrlState } from '../../app/url-state';
import { Id } from '../../ui/copy-button';
import { type Columns, DataTable } from '../../ui/data-table';
import { Empty, Loaded } from '../../ui/feedback';
import { ChoiceFilter, Filters, TextFilter } from '../../ui/filters';
import { objectOf, problemOfObject } from '../../ui/json-object';
import { Page } from '../../ui/page';
import { rowsById, useMore, whileOnePage } from '../../ui/paged';
import { Status } from '../../ui/status';
import { Time } from '../../ui/time';
import { findThreads, type Thread } from './found-threads';

const PAGE_SIZE = 100;
const WATCH_MS = 4_000;

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const problemOfId = (text: string): string | undefined => (ID.test(text) ? undefined : 'Paste a whole id');

function searchOf({ status, metadata, values, id }: UrlState): object {
  return {
    ...(status && { status }),
    ...(objectOf(metadata) && { metadata: objectOf(metadata) }),
    ...(objectOf(values) && { values: objectOf(values) }),
    ...(id && ID.test(id) && { ids: [id] }),
  };
}

const COLUMNS: Columns<Thread> = [
  {
    id: 'thread',
    header: 'Thread',
    meta: { width: 'minmax(7rem, 0.7fr)' },
    cell: ({ row }) => <Id id={row.original.thread_id!} />,
  },
  {
    id: 'status',
    header: 'Status',
    meta: { width: '7.5rem' },
    cell: ({ row }) => <Status status={row.original.status!} />,
  },
  {
    id: 'graph',
    header: 'Graph',
    meta: { width: 'minmax(5rem, 0.6fr)', wideOnly: true },
    cell: ({ row }) => (row.original.metadata as { graph_id?: string } | undefined)?.graph_id ?? '',
  },
  {
    id: 'last',
    header: 'Last message or values',
    meta: { width: 'minmax(8rem, 3fr)', wideOnly: true },
    cell: ({ row }) => <span className="text-soft">{row.original.summary}</span>,
  },
  {
    id: 'updated',
    header: 'Updated',
    meta: { width: '5.5rem' },
    cell: ({ row }) => <Time at={row.original.updated_at} />,
  },
];

const idOf = ({ thread_id }: Thread): string => thread_id!;
/** A thread moves to the first page when something happens on it, and those before it move down. */
const threadsOf = rowsById(idOf);

export default function ThreadsPage() {
  const [state, setState] = useUrlState();
  const body = useMemo(() => searchOf(state), [state]);
  const query = useInfiniteQuery({
    queryKey: ['threads', state],
    queryFn: ({ pageParam }) => findThreads({ ...body, limit: PAGE_SIZE, offset: pageParam }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < PAGE_SIZE ? undefined : pages.length * PAGE_SIZE),
    select: threadsOf,
    refetchInterval: whileOnePage(WATCH_MS),
  });
  const total = useQuery({
    queryKey: ['threads-count', state],
    queryFn: () => answerOf(api.POST('/threads/count', { body })),
    refetchInterval: 15_000,
  });
  const more = useMore(query);
  const set = (name: string) => (value: string | undefined) => setState({ [name]: value });
  const isFiltered = Object.keys(body).length > 0;
  return (
    <Page
      title="Threads"
      fills
      beside={<span className="text-xs text-muted tabular-nums">{total.data?.toLocaleString()}</span>}
      call={{ method: 'POST', path: '/threads/search', body, js: `threads.search(${JSON.stringify(body)})` }}
    >
      <Filters>
        <ChoiceFilter
          label="Status"
          any="Any status"
          value={state.status}
          options={['idle', 'busy', 'interrupted', 'error']}
          onChange={set('status')}
        />
        <TextFilter label="Thread id" value={state.id} onChange={set('id')} className="w-44" problemOf={problemOfId} />
        <TextFilter
          label="Metadata"
          placeholder='Metadata {"user": "ada"}'
          value={state.metadata}
          onChange={set('metadata')}
          problemOf={problemOfObject}
        />
        <TextFilter
          label="Values"
          placeholder='Values {"topic": "refund"}'
          value={state.values}
          onChange={set('values')}
          problemOf={problemOfObject}
        />
      </Filters>
      <Loaded of={query} lines={8} inset>
        {(rows) => (
          <DataTable
            label="Threads"
            rows={rows}
            columns={COLUMNS}
            rowId={idOf}
            linkOf={(thread) => `/threads/${thread.thread_id}`}
            onEnd={more}
            total={total.data}
            empty={
              <Empty icon="threads" title={isFiltered ? 'No thread is like that' : 'There is no thread yet'}>
                {isFiltered
                  ? 'Take a filter away.'
                  : 'Begin a conversation in the Playground, or create a thread by the API.'}
              </Empty>
            }
          />
        )}
      </Loaded>
    </Page>
  );
}
