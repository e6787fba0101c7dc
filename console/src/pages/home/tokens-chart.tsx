import { useQueries, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Chart } from '../../ui/chart';
import { short } from '../../ui/numbers';
import { useNow } from '../../ui/time';
import { projectsQuery, type Stats, statsQuery } from '../traces/traces-api';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Number of buckets; each is one request to the server. */
const BUCKETS = 12;
/** The last buckets, whose runs may still end and have their tokens counted. */
const OPEN_BUCKETS = 2;
const WATCH_MS = 30_000;

/** Reads the tokens of each bucket. A function of the module, so that the chart is drawn again only with other values. */
const tokensOf = (answers: UseQueryResult<Stats>[]) => answers.map(({ data }) => data?.total_tokens ?? null);

/** Tokens per minute of the traced runs over the last hours. */
export function TokensChart({ hours }: { hours: number }) {
  const projectIds = useQuery(projectsQuery()).data?.map(({ id }) => id) ?? [];
  const width = (hours * HOUR_MS) / BUCKETS;
  // Buckets of fixed times: those that have passed are requested once.
  const end = Math.ceil(useNow() / width) * width;
  const times = useMemo(
    () => Array.from({ length: BUCKETS }, (_, index) => (end - (BUCKETS - index) * width) / 1000),
    [end, width],
  );
  const tokens = useQueries({
    combine: tokensOf,
    queries: times.map((from, index) => {
      const body = {
        session: projectIds,
        start_time: new Date(from * 1000).toISOString(),
        end_time: new Date(from * 1000 + width).toISOString(),
      };
      const isOpen = index >= BUCKETS - OPEN_BUCKETS;
      return {
        ...statsQuery(body),
        enabled: projectIds.length > 0,
        staleTime: isOpen ? WATCH_MS : Infinity,
        refetchInterval: isOpen ? WATCH_MS : false,
      } as const;
    }),
  });
  const series = useMemo(() => {
    const values = tokens.map((count) => (count === null ? null : count / (width / MINUTE_MS)));
    return [{ name: 'tokens per minute', tone: 'accent', values }];
  }, [tokens, width]);
  if (projectIds.length === 0) return null;
  return (
    <figure className="card p-4">
      <figcaption className="mb-2 flex justify-between font-medium">
        Tokens <span className="font-normal text-muted">per minute, in traces</span>
      </figcaption>
      <Chart label="Tokens per minute of the traced runs" times={times} series={series} format={short} stacked />
    </figure>
  );
}
