import { useQueries, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Chart } from '../../ui/chart';
import { short } from '../../ui/numbers';
import { useNow } from '../../ui/time';
import { bucketQuery, bucketsOf } from '../traces/buckets';
import { projectsQuery, type Stats } from '../traces/traces-api';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Reads the tokens of each bucket. A function of the module, so that the chart is drawn again only with other values. */
const tokensOf = (answers: UseQueryResult<Stats>[]) => answers.map(({ data }) => data?.total_tokens ?? null);

/** Tokens per minute of the traced runs over the last hours. */
export function TokensChart({ hours }: { hours: number }) {
  const projectIds = useQuery(projectsQuery()).data?.map(({ id }) => id) ?? [];
  const buckets = bucketsOf(hours * HOUR_MS, useNow());
  const [{ from: first, width }] = buckets;
  // The chart is drawn again only when its edges move.
  const times = useMemo(() => buckets.map(({ from }) => from / 1000), [first, width]);
  // Roots alone: their figures include those of all runs under them, which would count again where these begin.
  const selection = { session: projectIds, is_root: true };
  const tokens = useQueries({
    combine: tokensOf,
    queries: buckets.map((bucket) => ({ ...bucketQuery(selection, bucket), enabled: projectIds.length > 0 })),
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
