import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useAssistantName } from '../../api/assistants';
import { answerOf, api, request } from '../../api/client';
import { useTemporalSearch } from '../../api/info';
import { useUrlState } from '../../app/url-state';
import { Button } from '../../ui/button';
import { CopyButton, Id } from '../../ui/copy-button';
import { ErrorBox, Loaded, Loading } from '../../ui/feedback';
import { JsonView } from '../../ui/json-view';
import { Facts, Page, Section } from '../../ui/page';
import { Status } from '../../ui/status';
import { Tabs } from '../../ui/tabs';
import { duration, Time } from '../../ui/time';
import { notify, notifyError } from '../../ui/toast';
import { traceOfRunQuery } from '../traces/traces-api';
import { RunDeliveries } from './run-deliveries';
import { Took } from './runs-page';
import { stepsQuery, valuesQuery } from './run-steps';
import { Steps } from './steps';

const RunGraph = lazy(() => import('./run-graph'));
const RunEvents = lazy(() => import('./run-events'));
const isOpen = (status: string | undefined): boolean => status === 'pending' || status === 'running';

function TraceLink({ runId }: { runId: string }) {
  const { data: trace } = useQuery(traceOfRunQuery(runId));
  if (!trace) return 'not traced';
  return (
    <Link to={`/traces/${trace.projectId}/${trace.traceId}`} className="text-accent underline">
      its steps, models and tools
    </Link>
  );
}

/** Values of the thread at the last checkpoint of the run. */
function Output({ threadId, checkpointId }: { threadId: string; checkpointId: string | undefined }) {
  const query = useQuery(valuesQuery(threadId, checkpointId));
  return <Loaded of={query}>{(values) => <JsonView value={values ?? undefined} open={3} />}</Loaded>;
}

export default function RunPage() {
  const { runId } = useParams({ strict: false }) as { runId: string };
  const [{ tab = 'steps' }, setState] = useUrlState();
  const queries = useQueryClient();
  const nameOf = useAssistantName();
  const temporal = useTemporalSearch(runId);
  const run = useQuery({
    queryKey: ['run', runId],
    queryFn: () => answerOf(api.GET('/runs/{run_id}', { params: { path: { run_id: runId } } })),
    refetchInterval: ({ state: { data } }) => (isOpen(data?.status) ? 1_000 : false),
  });
  const data = run.data;
  const found = useQuery({
    queryKey: ['found-run', runId, data?.status],
    enabled: data !== undefined,
    queryFn: async () => {
      const [row] = await answerOf(api.POST('/runs/search', { body: { run_id: runId, limit: 1 } }));
      return row ?? null;
    },
    refetchInterval: isOpen(data?.status) ? 2_000 : false,
  });
  const steps = useQuery(stepsQuery(data?.thread_id, runId, isOpen(data?.status)));
  const last = steps.data?.steps.at(-1);
  const cancel = async (): Promise<void> => {
    try {
      await request(`/threads/${data!.thread_id}/runs/${runId}/cancel`, { method: 'POST' });
      notify('The run is asked to stop.');
      await queries.invalidateQueries();
    } catch (error) {
      notifyError(error);
    }
  };
  const kwargs = data?.kwargs as
    { input?: unknown; command?: unknown; config?: unknown; context?: unknown } | undefined;
  const waited = found.data?.started_at && Date.parse(found.data.started_at) - Date.parse(found.data.created_at);

  return (
    <Page
      title={runId}
      parent={{ title: 'Runs', to: '/runs' }}
      temporal={temporal}
      call={{ method: 'GET', path: `/runs/${runId}` }}
      beside={
        <>
          <CopyButton text={runId} label="Copy the run's id" />
          {data && <Status status={data.status} />}
        </>
      }
      actions={
        isOpen(data?.status) && (
          <Button small look="danger" icon="stop" onClick={() => void cancel()}>
            Cancel
          </Button>
        )
      }
    >
      {run.isError && <ErrorBox error={run.error} retry={() => void run.refetch()} />}
      {run.isPending && <Loading lines={8} />}
      {data && (
        <div className="grid gap-6 xl:grid-cols-[minmax(0,1fr)_20rem]">
          <div className="min-w-0 space-y-4">
            {found.data?.error && <ErrorBox error={`${found.data.error.error}: ${found.data.error.message}`} />}
            <Tabs
              label="Run"
              value={tab}
              onChange={(next) => setState({ tab: next })}
              tabs={[
                {
                  value: 'steps',
                  label: 'Steps',
                  content: <Steps of={steps} run={found.data ?? undefined} threadId={data.thread_id} />,
                },
                {
                  value: 'graph',
                  label: 'Graph',
                  content: (
                    <Suspense fallback={<Loading />}>
                      <RunGraph
                        assistantId={data.assistant_id}
                        path={{
                          steps: steps.data?.steps.map(({ nodes }) => nodes) ?? [],
                          isComplete: last?.next.length === 0,
                        }}
                      />
                    </Suspense>
                  ),
                },
                {
                  value: 'events',
                  label: 'Events',
                  content: (
                    <Suspense fallback={<Loading />}>
                      <RunEvents threadId={data.thread_id} runId={runId} />
                    </Suspense>
                  ),
                },
                {
                  value: 'data',
                  label: 'Input and output',
                  content: (
                    <div className="grid gap-6 lg:grid-cols-2">
                      <Section title="Input">
                        <JsonView value={kwargs?.input ?? kwargs?.command} open={4} />
                      </Section>
                      <Section title="Output">
                        <Output threadId={data.thread_id} checkpointId={last?.id} />
                      </Section>
                    </div>
                  ),
                },
                { value: 'request', label: 'Request', content: <JsonView value={data.kwargs} open={2} /> },
                { value: 'webhooks', label: 'Webhook deliveries', content: <RunDeliveries runId={runId} /> },
              ]}
            />
          </div>
          <aside>
            <Section title="About">
              <Facts
                facts={[
                  ['Assistant', nameOf(data.assistant_id)],
                  [
                    'Thread',
                    <Link key="thread" to={`/threads/${data.thread_id}`} className="text-accent underline">
                      <Id id={data.thread_id} />
                    </Link>,
                  ],
                  ['Created', <Time key="created" at={data.created_at} />],
                  ['Waited', typeof waited === 'number' ? duration(Math.max(waited, 0)) : '—'],
                  ['Took', found.data ? <Took key="took" run={found.data} /> : '—'],
                  [
                    'Attempts',
                    found.data && found.data.attempts > 1 ? (
                      <span key="attempts" className="font-medium text-wait">
                        {found.data.attempts}: a process was lost or stopped, and another one took the run over
                      </span>
                    ) : (
                      (found.data?.attempts ?? '—')
                    ),
                  ],
                  ['Strategy', data.multitask_strategy],
                  ...(data.cancel_reason ? [['Cancelled', data.cancel_reason] as [string, string]] : []),
                  ['Trace', <TraceLink key="trace" runId={runId} />],
                  ['Metadata', <JsonView key="metadata" value={data.metadata} open={1} />],
                ]}
              />
            </Section>
          </aside>
        </div>
      )}
    </Page>
  );
}
