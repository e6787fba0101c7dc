import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import { useUrlState } from '../../app/url-state';
import { Chart } from '../../ui/chart';
import { dollarsCell, errorCell, shortCell, statusCell } from '../../ui/cells';
import { columnsOf, DataTable } from '../../ui/data-table';
import { Empty, Loaded } from '../../ui/feedback';
import { dollars, percent, short } from '../../ui/numbers';
import { Page } from '../../ui/page';
import { useMore, whileOnePage } from '../../ui/paged';
import { duration, Time, useNow } from '../../ui/time';
import { BUCKETS, bucketQuery, bucketsOf } from './buckets';
import { FilterInput } from './filter-input';
import {
  latencyMs,
  listRequest,
  listRuns,
  type RunSelection,
  type Stats,
  statsQuery,
  type TracedRun,
  utc,
} from './traces-api';

const HOUR_MS = 3_600_000;
const WINDOWS = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS, '30d': 720 * HOUR_MS } as const;
type WindowName = keyof typeof WINDOWS;
/**
 * Step in milliseconds to which the start of the period is rounded, so that repeated requests are answered from the cache.
 */
const STEP_MS = 60_000;
/** Interval in milliseconds at which a list looks for new rows while its first rows are in sight. */
const WATCH_MS = 30_000;

/** The start of a window that ends now. */
const startOf = (window: WindowName, now: number): string =>
  new Date(Math.ceil(now / STEP_MS) * STEP_MS - WINDOWS[window]).toISOString();

const column = columnsOf<TracedRun>();
const COLUMNS = [
  column.accessor('name', { header: 'Name', meta: { width: 'minmax(10rem, 2fr)' } }),
  column.accessor('status', {
    header: 'Status',
    meta: { width: '7rem' },
    cell: statusCell,
  }),
  column.accessor('run_type', { header: 'Type', meta: { width: '6rem', wideOnly: true } }),
  column.display({
    id: 'latency',
    header: 'Latency',
    meta: { width: '6rem' },
    cell: ({ row: { original } }) => {
      const ms = latencyMs(original);
      return <span className="tabular-nums">{ms === undefined ? '—' : duration(ms)}</span>;
    },
  }),
  column.accessor('total_tokens', {
    header: 'Tokens',
    meta: { width: '5rem', wideOnly: true },
    cell: shortCell,
  }),
  column.accessor('total_cost', {
    header: 'Cost',
    meta: { width: '5rem', wideOnly: true },
    cell: dollarsCell,
  }),
  column.accessor('error', {
    header: 'Error',
    meta: { width: 'minmax(6rem, 1.5fr)', wideOnly: true },
    cell: errorCell,
  }),
  column.accessor('start_time', {
    header: 'Started',
    meta: { width: '6rem' },
    cell: ({ getValue }) => <Time at={utc(getValue())} />,
  }),
];

const runsOf = ({ pages }: InfiniteData<{ runs: TracedRun[] }>): TracedRun[] => pages.flatMap(({ runs }) => runs);

function Charts({ selection, periodMs }: { selection: RunSelection; periodMs: number }) {
  const buckets = bucketsOf(periodMs, useNow());
  const answers = useQueries({ queries: buckets.map((bucket) => bucketQuery(selection, bucket)) });
  const times = buckets.map(({ from }) => from / 1000);
  const of = (read: (stats: Stats) => number | null): (number | null)[] =>
    answers.map(({ data }) => (data ? read(data) : null));
  const failed = (stats: Stats): number => Math.round(stats.run_count * (stats.error_rate ?? 0));
  const charts = [
    {
      title: 'Runs',
      series: [
        { name: 'succeeded', tone: 'good', values: of((stats) => stats.run_count - failed(stats)) },
        { name: 'failed', tone: 'bad', values: of(failed) },
      ],
      stacked: true,
      format: short,
    },
    {
      title: 'Error rate',
      series: [{ name: 'failed', tone: 'bad', values: of((stats) => (stats.run_count ? stats.error_rate : null)) }],
      format: percent,
    },
    {
      title: 'Latency, p50 and p99',
      series: [
        { name: 'p50', tone: 'busy', values: of((stats) => stats.latency_p50) },
        { name: 'p99', tone: 'wait', values: of((stats) => stats.latency_p99) },
      ],
      format: (value: number) => duration(value * 1000),
    },
    {
      title: 'Tokens',
      series: [{ name: 'tokens', tone: 'accent', values: of((stats) => stats.total_tokens) }],
      stacked: true,
      format: short,
    },
    {
      title: 'Cost',
      series: [{ name: 'cost', tone: 'accent', values: of((stats) => Number(stats.total_cost ?? 0)) }],
      stacked: true,
      format: dollars,
    },
  ];
  return (
    <div className="grid shrink-0 gap-3 px-4 pb-3 sm:grid-cols-2 sm:px-6 lg:grid-cols-3 xl:grid-cols-5">
      {charts.map(({ title, ...chart }) => (
        <div key={title} className="card px-3 pt-2">
          <h2 className="caps">{title}</h2>
          <Chart label={`${title} of the window in ${BUCKETS} steps`} times={times} height={92} {...chart} />
        </div>
      ))}
    </div>
  );
}

function Totals({ selection, window }: { selection: RunSelection; window: WindowName }) {
  const inWindow = { ...selection, start_time: startOf(window, useNow()) };
  const { data: stats } = useQuery({ ...statsQuery(inWindow), placeholderData: keepPreviousData });
  if (!stats) return null;
  return (
    <p className="hidden text-xs whitespace-nowrap text-muted tabular-nums lg:block">
      {`${short(stats.run_count)} runs · ${percent(stats.error_rate ?? 0)} failed · ${short(stats.total_tokens)} tokens · ${dollars(stats.total_cost)}`}
    </p>
  );
}

interface Props {
  title: string;
  /** The projects whose runs are listed. */
  projectIds: string[];
  /** Name of a run's project, for lists of several projects. */
  projectNameOf?: (run: TracedRun) => string;
  /** Controls before the filter. */
  children?: ReactNode;
}

/** The runs of projects with the filter language, and their figures over time. */
export function TracedRuns({ title, projectIds, projectNameOf, children }: Props) {
  const [{ window: chosen = '24h', filter = '', all, errors }, change] = useUrlState();
  const columns = useMemo(() => {
    if (!projectNameOf) return COLUMNS;
    const project = column.display({
      id: 'project',
      header: 'Project',
      meta: { width: 'minmax(6rem, 1fr)', wideOnly: true },
      cell: ({ row: { original } }) => projectNameOf(original),
    });
    return [COLUMNS[0], project, ...COLUMNS.slice(1)];
  }, [projectNameOf]);
  const name = (chosen in WINDOWS ? chosen : '24h') as WindowName;
  const selection = useMemo<RunSelection>(
    () => ({
      session: projectIds,
      ...(filter && { filter }),
      ...(!all && { is_root: true }),
      ...(errors && { error: true }),
    }),
    [projectIds, filter, all, errors],
  );
  // The same for as long as the list is shown: pages that follow one another have the same start.
  const listed = useMemo(() => ({ ...selection, start_time: startOf(name, Date.now()) }), [selection, name]);
  const list = useInfiniteQuery({
    queryKey: ['traces', 'runs', listed],
    queryFn: ({ pageParam }) => listRuns(listed, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: keepPreviousData,
    select: runsOf,
    retry: false,
    refetchInterval: whileOnePage(WATCH_MS),
  });
  const more = useMore(list);
  return (
    <Page
      title={title}
      parent={{ title: 'Traces', to: '/traces' }}
      fills
      beside={<Totals selection={selection} window={name} />}
      call={{ method: 'POST', path: '/api/v2/runs/query', body: listRequest(listed) }}
    >
      <div role="search" className="flex flex-wrap items-start gap-2 px-4 py-3 sm:px-6">
        {children}
        <FilterInput value={filter} onChange={(value) => change({ filter: value })} />
        <select
          aria-label="Window"
          className="field w-32"
          value={name}
          onChange={({ target }) => change({ window: target.value })}
        >
          <option value="1h">Last hour</option>
          <option value="24h">Last day</option>
          <option value="7d">Last 7 days</option>
          <option value="30d">Last 30 days</option>
        </select>
        <label className="flex h-8 items-center gap-1.5">
          <input
            type="checkbox"
            checked={Boolean(errors)}
            onChange={({ target }) => change({ errors: target.checked ? '1' : '' })}
          />
          Failed only
        </label>
        <label className="flex h-8 items-center gap-1.5">
          <input
            type="checkbox"
            checked={Boolean(all)}
            onChange={({ target }) => change({ all: target.checked ? '1' : '' })}
          />
          Nested runs too
        </label>
      </div>
      <Charts selection={selection} periodMs={WINDOWS[name]} />
      <Loaded of={list} inset>
        {(rows) => (
          <DataTable
            label="Traced runs"
            rows={rows}
            columns={columns as never}
            rowId={({ id }) => id}
            linkOf={({ id, trace_id: trace, session_id: project }) =>
              `/traces/${project}/${trace}${id === trace ? '' : `/${id}`}`
            }
            onEnd={more}
            empty={
              <Empty icon="traces" title="No run matches in this window">
                Choose a longer window, or another filter.
              </Empty>
            }
          />
        )}
      </Loaded>
    </Page>
  );
}
