import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answerOf, api, request } from '../../api/client';
import { useTemporalLink } from '../../api/info';
import { useUrlState } from '../../app/url-state';
import { Button, buttonClass, IconButton } from '../../ui/button';
import { CopyButton, Id } from '../../ui/copy-button';
import { Confirm } from '../../ui/dialog';
import { Empty, ErrorBox, Loading } from '../../ui/feedback';
import { JsonView } from '../../ui/json-view';
import { Menu } from '../../ui/menu';
import { Conversation, messagesOf } from '../../ui/messages';
import { Facts, Page } from '../../ui/page';
import { Status } from '../../ui/status';
import { Tabs } from '../../ui/tabs';
import { Time } from '../../ui/time';
import { notify, notifyError } from '../../ui/toast';
import { Took } from '../runs/runs-page';
import { Checkpoints } from './checkpoints';

const WATCH_MS = 3_000;

/** The runs of a thread, newest first. */
const runsQuery = (threadId: string) =>
  queryOptions({
    queryKey: ['thread-runs', threadId],
    queryFn: () => answerOf(api.POST('/runs/search', { body: { thread_id: threadId, limit: 100 } })),
    refetchInterval: WATCH_MS,
  });

function Runs({ threadId }: { threadId: string }) {
  const runs = useQuery(runsQuery(threadId));
  if (runs.isError) return <ErrorBox error={runs.error} />;
  if (!runs.data) return <Loading />;
  if (runs.data.length === 0) {
    return (
      <Empty icon="runs" title="Nothing has run on this thread">
        Continue it in the Playground, or create a run on it by the API.
      </Empty>
    );
  }
  return (
    <ul className="card divide-y divide-line">
      {runs.data.map((run) => (
        <li key={run.run_id} className="relative flex h-11 items-center gap-4 px-4 hover:bg-hover">
          <Link to={`/runs/${run.run_id}`} className="after:absolute after:inset-0">
            <Id id={run.run_id} />
          </Link>
          <Status status={run.status} />
          <span className="min-w-0 flex-1 truncate text-bad">{run.error?.message}</span>
          <Took run={run} />
          <Time at={run.created_at} />
        </li>
      ))}
    </ul>
  );
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
    refetchInterval: WATCH_MS,
  });
  const runs = useQuery(runsQuery(threadId)).data;
  const lastRun = runs?.find(({ status }) => status === 'running') ?? runs?.[0];
  const temporal = useTemporalLink(lastRun && `run-${lastRun.run_id}`);
  const data = thread.data;
  const messages = messagesOf(data?.values);
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
      {thread.isError && <ErrorBox error={thread.error} retry={() => void thread.refetch()} />}
      {thread.isPending && <Loading lines={8} />}
      {data && (
        <Tabs
          label="Thread"
          value={tab}
          onChange={(next) => setState({ tab: next })}
          tabs={[
            {
              value: 'conversation',
              label: messages ? 'Conversation' : 'Values',
              content: (
                <div className="space-y-4">
                  {data.error && <ErrorBox error={(data.error as { message?: string }).message ?? data.error} />}
                  {data.status === 'interrupted' && (
                    <p className="rounded-lg border border-wait/40 bg-wait-soft px-4 py-2.5 text-wait">
                      This thread waits for a person.{' '}
                      <Link to="/inbox" search={{ thread: threadId } as never} className="font-medium underline">
                        Answer in the inbox
                      </Link>
                    </p>
                  )}
                  {messages ? <Conversation messages={messages} /> : <JsonView value={data.values} open={3} />}
                </div>
              ),
            },
            {
              value: 'checkpoints',
              label: 'Checkpoints',
              content: <Checkpoints threadId={threadId} assistantId={assistantId} />,
            },
            { value: 'runs', label: 'Runs', content: <Runs threadId={threadId} /> },
            {
              value: 'about',
              label: 'About',
              content: (
                <Facts
                  facts={[
                    ['Created', <Time key="created" at={data.created_at} />],
                    ['Updated', <Time key="updated" at={data.updated_at} />],
                    ['Metadata', <JsonView key="metadata" value={data.metadata} />],
                    ['Config', <JsonView key="config" value={data.config} />],
                    ['Interrupts', <JsonView key="interrupts" value={data.interrupts} />],
                  ]}
                />
              ),
            },
          ]}
        />
      )}
      {thread.isError && <Button onClick={() => void navigate({ to: '/threads' })}>All threads</Button>}
    </Page>
  );
}
