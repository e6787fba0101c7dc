import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { answerOf, api } from '../../api/client';
import type { Schemas } from '../../api/info';
import { countOf } from '../../api/json';
import { metricOf, metricsQuery } from '../../api/metrics';
import { useUrlState } from '../../app/url-state';
import { Chart } from '../../ui/chart';
import { Empty, ErrorBox } from '../../ui/feedback';
import { Icon, type IconName } from '../../ui/icons';
import { tokensQuery } from '../traces/traces-api';
import { findWaiting } from '../inbox/waiting';
import { Page, Section } from '../../ui/page';
import { duration, Time } from '../../ui/time';
import { TokensChart } from './tokens-chart';

type Overview = Schemas['RunStats'];
const WATCH_MS = 4_000;
const PERIODS = { '1': 'Last hour', '24': 'Last day', '168': 'Last week' };

/** Statuses of exports that have failed: for themselves, or at their time limit. */
const FAILED_EXPORTS = ['Failed', 'TimedOut'];

interface FailedExports {
  count: number;
  /** Page that lists them: it filters by one status, so that those of both are in the list of all. */
  to: string;
}

async function findFailedExports(): Promise<FailedExports> {
  const counts = await Promise.all(FAILED_EXPORTS.map((status) => countOf('/api/v1/bulk-exports', { status })));
  const [status, ...others] = FAILED_EXPORTS.filter((_, index) => counts[index] > 0);
  return {
    count: counts.reduce((sum, each) => sum + each, 0),
    to: status && others.length === 0 ? `/exports?status=${status}` : '/exports',
  };
}

function Figure({ title, value, note, to }: { title: string; value: ReactNode; note?: ReactNode; to?: string }) {
  const content = (
    <>
      <p className="text-xs text-muted">{title}</p>
      <p className="mt-0.5 text-xl font-semibold tracking-tight tabular-nums">{value ?? '–'}</p>
      <p className="h-4.5 truncate text-xs text-muted">{note}</p>
    </>
  );
  return to ? (
    <Link to={to} className="card px-4 py-3 hover:bg-hover">
      {content}
    </Link>
  ) : (
    <div className="card px-4 py-3">{content}</div>
  );
}

function Attention({ icon, count, text, to }: { icon: IconName; count: number | undefined; text: string; to: string }) {
  const isCalm = !count;
  return (
    <li>
      <Link to={to} className="flex h-11 items-center gap-3 px-4 hover:bg-hover">
        <Icon name={icon} className={isCalm ? 'text-muted' : 'text-wait'} />
        <span className={`flex-1 ${isCalm ? 'text-muted' : ''}`}>{text}</span>
        <span className={`tabular-nums ${isCalm ? 'text-muted' : 'font-semibold'}`}>{count ?? '–'}</span>
        <Icon name="right" size={12} className="text-muted" />
      </Link>
    </li>
  );
}

function RunCharts({ overview }: { overview: Overview }) {
  const times = useMemo(() => overview.buckets.map(({ at }) => Date.parse(at) / 1000), [overview]);
  const counts = useMemo(
    () =>
      (
        [
          ['success', 'good'],
          ['interrupted', 'wait'],
          ['error', 'bad'],
        ] as const
      ).map(([name, tone]) => ({
        name,
        tone,
        values: overview.buckets.map((bucket) => bucket[name]),
      })),
    [overview],
  );
  const latencies = useMemo(
    () => [
      { name: 'p50', tone: 'accent', values: overview.buckets.map(({ duration_ms_p50 }) => duration_ms_p50) },
      { name: 'p95', tone: 'muted', values: overview.buckets.map(({ duration_ms_p95 }) => duration_ms_p95) },
    ],
    [overview],
  );
  const waits = useMemo(
    () => [{ name: 'p95', tone: 'busy', values: overview.buckets.map(({ wait_ms_p95 }) => wait_ms_p95) }],
    [overview],
  );
  const sum = (name: 'created' | 'error'): number =>
    overview.buckets.reduce((total, bucket) => total + bucket[name], 0);
  return (
    <>
      <figure className="card p-4">
        <figcaption className="mb-2 flex justify-between font-medium">
          Runs by outcome{' '}
          <span className="font-normal text-muted tabular-nums">
            {sum('created').toLocaleString()}, {sum('error').toLocaleString()} failed
          </span>
        </figcaption>
        <Chart
          label={`${sum('created')} runs, of which ${sum('error')} failed`}
          times={times}
          series={counts}
          stacked
        />
      </figure>
      <figure className="card p-4">
        <figcaption className="mb-2 flex justify-between font-medium">
          Duration <span className="font-normal text-muted">p50, p95</span>
        </figcaption>
        <Chart
          label="Duration of runs, median and 95th percentile"
          times={times}
          series={latencies}
          format={duration}
        />
      </figure>
      <figure className="card p-4">
        <figcaption className="mb-2 flex justify-between font-medium">
          Wait for a worker <span className="font-normal text-muted">p95</span>
        </figcaption>
        <Chart label="Wait of runs for a worker, 95th percentile" times={times} series={waits} format={duration} />
      </figure>
    </>
  );
}

export default function HomePage() {
  const [{ hours = '24' }, setState] = useUrlState();
  const body = { hours: Number(hours), buckets: 48 };
  const overview = useQuery({
    queryKey: ['overview', hours],
    queryFn: () => answerOf(api.POST('/runs/overview', { body })),
    refetchInterval: WATCH_MS,
  });
  const metrics = useQuery(metricsQuery);
  const tokens = useQuery(tokensQuery(Number(hours)));
  const workers = metrics.data?.workers;
  const interrupted = useQuery({
    queryKey: ['waiting'],
    queryFn: findWaiting,
    // It is a count of all of them, which the server reads for it.
    refetchInterval: 4 * WATCH_MS,
  });
  const dead = useQuery({
    queryKey: ['dead-deliveries'],
    queryFn: () => countOf('/webhooks/deliveries', { status: 'failed' }),
    refetchInterval: 4 * WATCH_MS,
  });
  const exports = useQuery({
    queryKey: ['failed-exports'],
    queryFn: findFailedExports,
    refetchInterval: 4 * WATCH_MS,
  });
  const data = overview.data;
  const failed = data?.buckets.reduce((total, { error }) => total + error, 0);
  const created = data?.buckets.reduce((total, bucket) => total + bucket.created, 0);
  return (
    <Page
      title="Home"
      call={{ method: 'POST', path: '/runs/overview', body }}
      actions={
        <select
          aria-label="Period"
          className="field w-auto"
          value={hours}
          onChange={({ target }) => setState({ hours: target.value })}
        >
          {Object.entries(PERIODS).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      }
    >
      <div className="space-y-6">
        {overview.isError && <ErrorBox error={overview.error} retry={() => void overview.refetch()} />}
        <div className="grid grid-cols-2 gap-4 md:grid-cols-4 xl:grid-cols-7">
          <Figure title="Running" value={data?.running} to="/runs?status=running" />
          <Figure
            title="Waiting"
            value={data?.pending}
            note={
              data?.oldest_pending_at && (
                <>
                  oldest <Time at={data.oldest_pending_at} />
                </>
              )
            }
            to="/runs?status=pending"
          />
          <Figure
            title="Failed"
            value={failed}
            note={PERIODS[hours as '1']?.toLowerCase()}
            to={`/runs?status=error,timeout&hours=${hours}`}
          />
          <Figure
            title="Runs per minute"
            value={created && (created / (Number(hours) * 60)).toFixed(1)}
            note={created !== undefined && `${created.toLocaleString()} in all`}
          />
          <Figure
            title="Tokens per minute"
            value={tokens.data && (tokens.data / (Number(hours) * 60)).toFixed(1)}
            note={tokens.data !== undefined && `${tokens.data.toLocaleString()} in traces`}
            to="/traces"
          />
          <Figure
            title="Workers"
            value={workers?.processes}
            note={
              metrics.data === null
                ? 'needs the metrics token'
                : workers && `${workers.active} of ${workers.max} slots in use`
            }
          />
          <Figure
            title="Streams open"
            value={metricOf(metrics.data, 'gantry_stream_subscribers')}
            note={metrics.data ? 'on this replica' : undefined}
          />
        </div>
        {created === 0 && (
          <Empty icon="home" title="Nothing has run in this period">
            Send a message in the{' '}
            <Link to="/playground" className="text-accent underline">
              Playground
            </Link>
            , create a run by the API, or choose a longer period.
          </Empty>
        )}
        <div className="grid gap-4 empty:hidden lg:grid-cols-2 2xl:grid-cols-4">
          {data?.buckets.some((bucket) => bucket.created > 0) && <RunCharts overview={data} />}
          <TokensChart hours={Number(hours)} />
        </div>
        <Section title="Needs a person">
          <ul className="card divide-y divide-line overflow-hidden">
            <Attention icon="inbox" count={interrupted.data?.length} text="Interrupts to answer" to="/inbox" />
            <Attention
              icon="warning"
              count={failed}
              text="Failed runs"
              to={`/runs?status=error,timeout&hours=${hours}`}
            />
            <Attention
              icon="exports"
              count={exports.data?.count}
              text="Failed exports"
              to={exports.data?.to ?? '/exports'}
            />
            <Attention
              icon="webhooks"
              count={dead.data}
              text="Webhook deliveries that were given up"
              to="/webhooks?status=failed"
            />
          </ul>
        </Section>
      </div>
    </Page>
  );
}
