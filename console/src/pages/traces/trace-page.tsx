import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTemporalSearch } from '../../api/info';
import { useUrlState } from '../../app/url-state';
import { Button, buttonClass } from '../../ui/button';
import { Empty, ErrorBox, Loading } from '../../ui/feedback';
import { JsonView } from '../../ui/json-view';
import { dollars, whole } from '../../ui/numbers';
import { Facts, Page } from '../../ui/page';
import { Status } from '../../ui/status';
import { Tabs } from '../../ui/tabs';
import { notifyError } from '../../ui/toast';
import { duration, Time } from '../../ui/time';
import { Payload } from './payload';
import { SpanList } from './span-list';
import { treeOf } from './span-tree';
import {
  feedbackQuery,
  giveFeedback,
  latencyMs,
  projectQuery,
  runQuery,
  servedRunQuery,
  traceQuery,
  utc,
} from './traces-api';

function FeedbackPart({ runId }: { runId: string }) {
  const client = useQueryClient();
  const query = useQuery(feedbackQuery(runId));
  const [comment, setComment] = useState('');
  const give = useMutation({
    mutationFn: (score: number) => giveFeedback(runId, score, comment),
    onError: notifyError,
    onSuccess: async () => {
      setComment('');
      await client.invalidateQueries({ queryKey: feedbackQuery(runId).queryKey });
    },
  });
  return (
    <div className="space-y-3">
      <ul className="space-y-1.5">
        {query.data?.map((each) => (
          <li key={each.id} className="card flex items-baseline gap-3 px-3 py-2">
            <span className="font-medium">{each.key}</span>
            <span className="tabular-nums">{String(each.score ?? JSON.stringify(each.value))}</span>
            <span className="min-w-0 flex-1 truncate text-soft">{each.comment}</span>
            <Time at={utc(each.created_at)} />
          </li>
        ))}
        {query.data?.length === 0 && <li className="text-muted">No feedback yet.</li>}
      </ul>
      <div className="flex gap-2">
        <input
          aria-label="Comment"
          placeholder="Comment"
          className="field"
          value={comment}
          onChange={({ target }) => setComment(target.value)}
        />
        <Button disabled={give.isPending} onClick={() => give.mutate(1)}>
          Good
        </Button>
        <Button disabled={give.isPending} onClick={() => give.mutate(0)}>
          Bad
        </Button>
      </div>
    </div>
  );
}

function RunDetail({ projectId, runId }: { projectId: string; runId: string }) {
  const [{ part = 'io' }, change] = useUrlState();
  const query = useQuery(runQuery(projectId, runId));
  if (query.error) return <ErrorBox error={query.error} retry={() => void query.refetch()} />;
  const run = query.data;
  if (!run) return <Loading />;
  const ms = latencyMs(run);
  const threadId = run.extra?.metadata?.thread_id;
  return (
    <div className="space-y-4">
      <header className="flex flex-wrap items-center gap-3">
        <h2 className="text-[15px] font-semibold">{run.name}</h2>
        <Status status={run.status} />
        <span className="text-muted tabular-nums">
          {[
            run.run_type,
            ms !== undefined && duration(ms),
            run.total_tokens > 0 && `${whole(run.prompt_tokens)} + ${whole(run.completion_tokens)} tokens`,
            run.total_cost && dollars(run.total_cost),
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </header>
      {run.error && (
        <pre
          role="alert"
          className="max-h-64 overflow-auto rounded-lg bg-bad-soft px-3 py-2 text-xs whitespace-pre-wrap text-bad"
        >
          {run.error}
        </pre>
      )}
      <Tabs
        label="Parts of the run"
        value={part}
        onChange={(value) => change({ part: value })}
        tabs={[
          {
            value: 'io',
            label: 'Input and output',
            content: (
              <div className="space-y-5">
                <Payload title="Input" value={run.inputs} />
                <Payload title="Output" value={run.outputs} />
              </div>
            ),
          },
          {
            value: 'facts',
            label: 'Metadata',
            content: (
              <div className="space-y-4">
                <Facts
                  facts={[
                    ['Id', <span className="font-mono text-xs">{run.id}</span>],
                    ['Started', <Time at={utc(run.start_time)} />],
                    [
                      'First token',
                      run.first_token_time
                        ? duration(utc(run.first_token_time).getTime() - utc(run.start_time).getTime())
                        : '—',
                    ],
                    ['Tags', run.tags?.length ? run.tags.join(', ') : '—'],
                    [
                      'Thread',
                      typeof threadId === 'string' ? (
                        <Link to={`/threads/${threadId}` as never} className="text-accent hover:underline">
                          {threadId}
                        </Link>
                      ) : (
                        '—'
                      ),
                    ],
                  ]}
                />
                <div className="card p-2">
                  <JsonView value={run.extra} />
                </div>
              </div>
            ),
          },
          { value: 'feedback', label: 'Feedback', content: <FeedbackPart key={runId} runId={runId} /> },
        ]}
      />
    </div>
  );
}

/** Runs of a trace that the server returns at most. */
const MOST_RUNS = 10_000;

export default function TracePage() {
  const { projectId, traceId, runId } = useParams({ strict: false }) as {
    projectId: string;
    traceId: string;
    runId?: string;
  };
  const [{ run = runId ?? traceId }, change] = useUrlState();
  const project = useQuery(projectQuery(projectId));
  const query = useQuery(traceQuery(projectId, traceId));
  const tree = useMemo(
    () => (query.data?.length ? treeOf(query.data, query.dataUpdatedAt) : undefined),
    [query.data, query.dataUpdatedAt],
  );
  const served = useQuery(servedRunQuery(traceId)).data;
  const temporal = useTemporalSearch(served?.run_id);
  return (
    <Page
      title={tree?.rows[0].span.name ?? 'Trace'}
      temporal={temporal}
      actions={
        served && (
          <Link to={`/runs/${served.run_id}`} className={buttonClass('quiet', true)}>
            Run
          </Link>
        )
      }
      parent={{ title: project.data?.name ?? 'Project', to: `/traces/${projectId}` }}
      fills
      beside={
        tree && (
          <span className="text-muted">
            {(query.data?.length ?? 0) >= MOST_RUNS && 'the first '}
            {`${whole(tree.rows.length)} runs · ${duration(tree.totalMs)}`}
          </span>
        )
      }
      call={{ method: 'GET', path: `/api/v2/traces/${traceId}/runs?project_id=${projectId}` }}
    >
      {query.error ? (
        <div className="p-6">
          <ErrorBox error={query.error} retry={() => void query.refetch()} />
        </div>
      ) : query.isLoading ? (
        <Loading />
      ) : tree ? (
        <div className="grid min-h-0 flex-1 grid-rows-[40%_60%] lg:grid-cols-[minmax(22rem,45%)_1fr] lg:grid-rows-1">
          <div className="min-h-0 border-b border-line lg:border-r lg:border-b-0">
            <SpanList tree={tree} chosen={run} onChoose={(id) => change({ run: id })} />
          </div>
          <div className="min-h-0 overflow-auto p-4 sm:px-6">
            <RunDetail projectId={projectId} runId={run} />
          </div>
        </div>
      ) : (
        <Empty icon="traces" title="The trace has no runs">
          It may have been deleted, or is past its retention.
        </Empty>
      )}
    </Page>
  );
}
