import { useQuery } from '@tanstack/react-query';
import { useInfo } from '../../api/info';
import { getJson } from '../../api/json';
import { ErrorBox, Loading } from '../../ui/feedback';
import { bytes, whole } from '../../ui/numbers';
import { Facts, Page, Section } from '../../ui/page';
import { Status } from '../../ui/status';
import { duration } from '../../ui/time';

const REFETCH_MS = 5_000;

interface Health {
  ok: boolean;
  services?: Record<string, string>;
}

interface Series {
  labels: Record<string, string>;
  value?: number;
}

/** The JSON form of `/metrics`, as far as it is shown. */
interface Metrics {
  metrics: Record<string, { series: Series[] } | undefined>;
}

const healthQuery = {
  queryKey: ['system', 'health'],
  queryFn: () => getJson<Health>('/ok', { check_db: 1 }),
  refetchInterval: REFETCH_MS,
  retry: false,
};
const metricsQuery = {
  queryKey: ['system', 'metrics'],
  queryFn: () => getJson<Metrics>('/metrics', { format: 'json' }),
  refetchInterval: REFETCH_MS,
  retry: false,
};

function Numbers({ metrics }: { metrics: Metrics['metrics'] }) {
  const one = (name: string, label?: [string, string]): number | undefined =>
    metrics[name]?.series.find(({ labels }) => !label || labels[label[0]] === label[1])?.value;
  const seconds = (name: string): string => {
    const value = one(name);
    return value === undefined ? '—' : duration(value * 1000);
  };
  const facts: [string, string][] = [
    ['Workers', whole(one('gantry_workers'))],
    ['Runs in flight', whole(one('gantry_runs', ['status', 'running']))],
    ['Runs that wait', whole(one('gantry_runs', ['status', 'pending']))],
    ['Oldest run that waits', seconds('gantry_run_queue_age_seconds')],
    ['Workers are late by', seconds('gantry_run_queue_unblocked_age_seconds')],
    ['Deliveries without an end', whole(one('gantry_webhook_deliveries_pending'))],
    ['Most overdue cron', seconds('gantry_cron_overdue_seconds')],
    ['Memory of this api', bytes(one('process_resident_memory_bytes'))],
  ];
  return (
    <dl className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
      {facts.map(([name, value]) => (
        <div key={name} className="card px-4 py-3">
          <dt className="text-muted">{name}</dt>
          <dd className="mt-0.5 text-lg font-semibold tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export default function SystemPage() {
  const info = useInfo();
  const health = useQuery(healthQuery);
  const metrics = useQuery(metricsQuery);
  return (
    <Page
      title="System"
      beside={health.data && <Status status={health.data.ok ? 'healthy' : 'unhealthy'} />}
      call={{ method: 'GET', path: '/ok?check_db=1' }}
    >
      <div className="space-y-6">
        <Section title="Services">
          {health.error ? (
            <ErrorBox error={health.error} retry={() => void health.refetch()} />
          ) : health.data ? (
            <ul className="flex flex-wrap gap-3">
              {Object.entries(health.data.services ?? {}).map(([name, state]) => (
                <li key={name} className="card flex items-center gap-3 px-4 py-2">
                  <span className="font-medium">{name.replaceAll('_', ' ')}</span>
                  <Status status={state} />
                </li>
              ))}
            </ul>
          ) : (
            <Loading lines={1} />
          )}
        </Section>
        <Section title="Now">
          {metrics.error ? (
            <ErrorBox error={metrics.error} retry={() => void metrics.refetch()} />
          ) : metrics.data ? (
            <Numbers metrics={metrics.data.metrics} />
          ) : (
            <Loading lines={2} />
          )}
        </Section>
        {info && (
          <div className="grid gap-6 lg:grid-cols-2">
            <Section title="Versions">
              <Facts
                facts={[
                  ['Gantry', info.gantry_version],
                  ['API', info.version],
                  ['Revision of the graphs', info.host.revision_id ?? '—'],
                ]}
              />
            </Section>
            <Section title="What is served">
              <ul className="columns-2">
                {Object.entries(info.flags).map(([name, isServed]) => (
                  <li key={name} className={isServed ? '' : 'text-muted line-through'}>
                    {name.replaceAll('_', ' ')}
                  </li>
                ))}
              </ul>
            </Section>
          </div>
        )}
        <p className="text-muted">
          <code className="font-mono text-xs">npm run doctor</code> checks ports, disk, clocks and versions on the
          machine itself.
        </p>
      </div>
    </Page>
  );
}
