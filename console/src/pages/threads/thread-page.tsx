import { infiniteQueryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, type Ref, useEffect, useState } from 'react';
import { answerOf, api, request } from '../../api/client';
import { useTemporalSearch } from '../../api/info';
import { useUrlState } from '../../app/url-state';
import { Button, buttonClass, IconButton } from '../../ui/button';
import { statusCell, timeCell } from '../../ui/cells';
import { CopyButton, Id } from '../../ui/copy-button';
import { columnsOf, DataTable } from '../../ui/data-table';
import { Confirm } from '../../ui/dialog';
import { Empty, ErrorBox, Loaded, Loading } from '../../ui/feedback';
import { useFollowedEnd } from '../../ui/followed-end';
import { JsonView } from '../../ui/json-view';
import { Menu } from '../../ui/menu';
import { type ChatMessage, messagesOf } from '../../ui/chat-messages';
import { Conversation } from '../../ui/messages';
import { Facts, Page } from '../../ui/page';
import { rowsOf, useMore, whileOnePage } from '../../ui/paged';
import { questionsOf } from '../../ui/questions';
import { Status } from '../../ui/status';
import { Tabs } from '../../ui/tabs';
import { Time } from '../../ui/time';
import { notify, notifyError } from '../../ui/toast';
import { type FoundRun, Took } from '../runs/runs-page';
import { Checkpoints } from './checkpoints';

const WATCH_MS = 3_000;

const PAGE_SIZE = 100;

/** The runs of a thread, newest first. */
const runsQuery = (threadId: string) =>
  infiniteQueryOptions({
    queryKey: ['thread-runs', threadId],
    queryFn: ({ pageParam }) => {
      const body = { thread_id: threadId, limit: PAGE_SIZE, ...(pageParam && { before: pageParam }) };
      return answerOf(api.POST('/runs/search', { body }));
    },
    initialPageParam: '',
    getNextPageParam: (last) => (last.length < PAGE_SIZE ? undefined : last.at(-1)!.run_id),
    select: rowsOf<FoundRun>,
    // A long list is not read again as a whole.
    refetchInterval: whileOnePage(WATCH_MS),
  });

const column = columnsOf<FoundRun>();
const COLUMNS = [
  column.accessor('run_id', {
    header: 'Run',
    meta: { width: 'minmax(7rem, 0.8fr)' },
    cell: ({ getValue }) => <Id id={getValue()} />,
  }),
  column.accessor('status', { header: 'Status', meta: { width: '7.5rem' }, cell: statusCell }),
  column.display({
    id: 'error',
    header: 'Error',
    meta: { width: 'minmax(6rem, 2fr)', wideOnly: true },
    cell: ({ row: { original } }) => <span className="text-bad">{original.error?.message}</span>,
  }),
  column.display({
    id: 'took',
    header: 'Took',
    meta: { width: '5.5rem', wideOnly: true },
    cell: ({ row: { original } }) => <Took run={original} />,
  }),
  column.accessor('created_at', { header: 'Created', meta: { width: '5.5rem' }, cell: timeCell }),
];

function Runs({ threadId }: { threadId: string }) {
  const runs = useInfiniteQuery(runsQuery(threadId));
  const more = useMore(runs);
  return (
    <Loaded of={runs}>
      {(rows) => (
        <DataTable
          label="Runs of the thread"
          rows={rows}
          columns={COLUMNS as never}
          rowId={({ run_id }) => run_id}
          linkOf={({ run_id }) => `/runs/${run_id}`}
          onEnd={more}
          empty={
            <Empty icon="runs" title="Nothing has run on this thread">
              Continue it in the Playground, or create a run on it by the API.
            </Empty>
          }
        />
      )}
    </Loaded>
  );
}

/** A part of a tab that scrolls. In the order of the keyboard, so that it can be scrolled without a control in it. */
function Scrolled({ children, ref }: { children: ReactNode; ref?: Ref<HTMLDivElement> }) {
  return (
    <div ref={ref} tabIndex={0} className="min-h-0 flex-1 overflow-auto px-4 pb-4 sm:px-6">
      {children}
    </div>
  );
}

/** The messages of a thread, opened at the last one, which stays in sight while messages are added. */
function FollowedConversation({ messages, isRunning }: { messages: ChatMessage[]; isRunning: boolean }) {
  const place = useFollowedEnd(isRunning);
  return (
    <Scrolled ref={place}>
      <Conversation messages={messages} />
    </Scrolled>
  );
}

interface Stamped {
  status?: string;
  updated_at?: string;
  state_updated_at?: string;
}

/** A text that changes when a thread does. */
const stampOf = (thread: Stamped | undefined): string =>
  thread ? `${thread.status} ${thread.updated_at} ${thread.state_updated_at}` : 'deleted';

/** Reads the stamp of a thread without its values, which may be large. */
async function readStamp(threadId: string): Promise<string> {
  const body = { ids: [threadId], select: ['status' as const, 'updated_at' as const, 'state_updated_at' as const] };
  const [found] = await answerOf(api.POST('/threads/search', { body }));
  return stampOf(found);
}

export default function ThreadPage() {
  const { threadId } = useParams({ strict: false }) as { threadId: string };
  const [{ tab = 'conversation' }, setState] = useUrlState();
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const path = { params: { path: { thread_id: threadId } } };
  const thread = useQuery({
    queryKey: ['thread', threadId],
    queryFn: () => answerOf(api.GET('/threads/{thread_id}', path)),
    // The values of a thread change with each step of its run, and otherwise with its times.
    refetchInterval: ({ state }) => (state.data?.status === 'busy' ? WATCH_MS : false),
  });
  const { refetch } = thread;
  const now = useQuery({
    queryKey: ['thread-stamp', threadId],
    queryFn: () => readStamp(threadId),
    refetchInterval: WATCH_MS,
  }).data;
  const read = thread.data && stampOf(thread.data);
  useEffect(() => {
    if (now !== undefined && read !== undefined && now !== read) void refetch();
  }, [now, read, refetch]);
  const runs = useInfiniteQuery(runsQuery(threadId)).data;
  const lastRun = runs?.find(({ status }) => status === 'running') ?? runs?.[0];
  const temporal = useTemporalSearch(lastRun?.run_id);
  const data = thread.data;
  const messages = messagesOf(data?.values);
  // A thread whose run was stopped is interrupted as well, but asks nothing.
  const isAsking = data?.status === 'interrupted' && questionsOf(data.interrupts).length > 0;
  const copy = async (): Promise<void> => {
    try {
      const made = await answerOf(api.POST('/threads/{thread_id}/copy', path));
      notify('The thread is copied: this is the copy.');
      await navigate({ to: `/threads/${made.thread_id}` });
    } catch (error) {
      notifyError(error);
    }
  };
  const assistantId = (data?.metadata as { assistant_id?: string } | undefined)?.assistant_id;
  const playground = new URLSearchParams({ thread: threadId, ...(assistantId && { assistant: assistantId }) });

  return (
    <Page
      title={threadId}
      parent={{ title: 'Threads', to: '/threads' }}
      fills
      temporal={temporal}
      beside={
        <>
          <CopyButton text={threadId} label="Copy the thread's id" />
          {data && <Status status={data.status} />}
        </>
      }
      call={{
        method: 'GET',
        path: `/threads/${threadId}`,
        js: `threads.get("${threadId}")`,
        python: `threads.get("${threadId}")`,
      }}
      actions={
        <>
          <Link to={`/playground?${playground.toString()}`} className={buttonClass('plain', true)}>
            Open in the Playground
          </Link>
          <Menu
            trigger={<IconButton icon="more" label="More actions" />}
            items={[
              { label: 'Copy the thread', icon: 'copy', act: () => void copy() },
              { label: 'Delete the thread', icon: 'trash', isDanger: true, act: () => setDeleting(true) },
            ]}
          />
        </>
      }
    >
      <Confirm
        title="Delete this thread?"
        action="Delete"
        open={isDeleting}
        onClose={() => setDeleting(false)}
        act={async () => {
          await request(`/threads/${threadId}`, { method: 'DELETE' });
          await navigate({ to: '/threads' });
        }}
      >
        Its runs, states and events go with it. This can't be undone.
      </Confirm>
      {thread.isError && (
        <div className="space-y-3 p-4 sm:px-6">
          <ErrorBox error={thread.error} retry={() => void thread.refetch()} />
          <Button onClick={() => void navigate({ to: '/threads' })}>All threads</Button>
        </div>
      )}
      {thread.isPending && <Loading lines={8} />}
      {data && (
        <Tabs
          label="Thread"
          fills
          value={tab}
          onChange={(next) => setState({ tab: next })}
          tabs={[
            {
              value: 'conversation',
              label: messages ? 'Conversation' : 'Values',
              content: (
                <>
                  {(data.error != null || isAsking) && (
                    <div className="space-y-4 px-4 pb-3 sm:px-6">
                      {data.error && <ErrorBox error={(data.error as { message?: string }).message ?? data.error} />}
                      {isAsking && (
                        <p className="rounded-lg border border-wait/40 bg-wait-soft px-4 py-2.5 text-wait">
                          This thread waits for a person.{' '}
                          <Link to="/inbox" search={{ thread: threadId } as never} className="font-medium underline">
                            Answer in the inbox
                          </Link>
                        </p>
                      )}
                    </div>
                  )}
                  {messages ? (
                    <FollowedConversation messages={messages} isRunning={data.status === 'busy'} />
                  ) : (
                    <Scrolled>
                      <JsonView value={data.values} open={3} />
                    </Scrolled>
                  )}
                </>
              ),
            },
            {
              value: 'checkpoints',
              label: 'Checkpoints',
              content: (
                <Scrolled>
                  <Checkpoints threadId={threadId} assistantId={assistantId} />
                </Scrolled>
              ),
            },
            { value: 'runs', label: 'Runs', content: <Runs threadId={threadId} /> },
            {
              value: 'about',
              label: 'About',
              content: (
                <Scrolled>
                  <Facts
                    facts={[
                      ['Created', <Time key="created" at={data.created_at} />],
                      ['Updated', <Time key="updated" at={data.updated_at} />],
                      ['Metadata', <JsonView key="metadata" value={data.metadata} />],
                      ['Config', <JsonView key="config" value={data.config} />],
                      ['Interrupts', <JsonView key="interrupts" value={data.interrupts} />],
                    ]}
                  />
                </Scrolled>
              ),
            },
          ]}
        />
      )}
    </Page>
  );
}
