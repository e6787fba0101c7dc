import { useQuery } from '@tanstack/react-query';
import { useInfo } from '../../api/info';
import { API_URL } from '../../app/base';
import { Icon } from '../../ui/icons';
import { send } from '../../api/client';
import { ApiFailure } from '../../api/failure';
import { metricOf, type Metrics, metricsQuery } from '../../api/metrics';
import { Loaded } from '../../ui/feedback';
import { bytes, whole } from '../../ui/numbers';
import { Facts, Page, Section } from '../../ui/page';
import { Status } from '../../ui/status';
import { duration } from '../../ui/time';
import { type Finding, findingsOf, type Health } from './findings';

const REFETCH_MS = 5_000;

async function readHealth(): Promise<Health> {
  const begun = Date.now();
  // A service that is down is an answer as well, and no failure of the request.
  const response = await send(`${API_URL}/ok?check_db=1`);
  const date = response.headers.get('date');
  if (!response.headers.get('content-type')?.includes('json')) throw await ApiFailure.of(response);
  // The header has whole seconds: half a second is missing on average.
  const skewMs = date === null ? null : Date.parse(date) + 500 - (begun + Date.now()) / 2;
  return { ...((await response.json()) as Omit<Health, 'skewMs'>), skewMs };
}

const healthQuery = {
  queryKey: ['system', 'health'],
  queryFn: readHealth,
  refetchInterval: REFETCH_MS,
  retry: false,
};

const MARKS = { pass: 'text-good', warn: 'text-wait', fail: 'text-bad' };

function Findings({ findings }: { findings: Finding[] }) {
  return (
    <ul aria-label="Findings" className="card divide-y divide-line">
      {findings.map(({ level, check, text, hint }) => (
        <li key={check} className="flex flex-wrap items-baseline gap-x-3 px-4 py-2">
          <span className={`flex w-16 items-center gap-1.5 self-center text-xs font-medium ${MARKS[level]}`}>
            <Icon name={level === 'pass' ? 'check' : 'warning'} size={14} />
            {level}
          </span>
          <span className="w-28 font-medium">{check}</span>
          <span className="text-soft">{text}</span>
          {hint && <span className="basis-full pl-19 text-soft sm:basis-auto sm:pl-0">{hint}</span>}
        </li>
      ))}
    </ul>
  );
}

function Numbers({ metrics }: { metrics: Metrics }) {
  const one = (name: string, labels?: Record<string, string>): number | undefined => metricOf(metrics, name, labels);
  const seconds = (name: string): string => {
    const value = one(name);
    return value === undefined ? '—' : duration(value * 1000);
  };
  const facts: [string, string][] = [
    ['Workers', whole(one('gantry_workers'))],
    ['Runs in flight', whole(one('gantry_runs', { status: 'running' }))],
    ['Runs that wait', whole(one('gantry_runs', { status: 'pending' }))],
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
        <Section title="Findings">
          <Loaded of={health} lines={4}>
            {(read) => <Findings findings={findingsOf(read, metrics.data, info, location.hostname)} />}
          </Loaded>
        </Section>
        <Section title="Now">
          <Loaded of={metrics} lines={2}>
            {(read) =>
              read ? (
                <Numbers metrics={read} />
              ) : (
                <p className="text-muted">
                  These figures need the metrics token (GANTRY_METRICS_TOKEN) or the operator’s API key.
                </p>
              )
            }
          </Loaded>
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
          <code className="font-mono text-xs">npm run doctor</code> checks more on the machine itself: ports,
          migrations, the bucket, CORS and settings.
        </p>
      </div>
    </Page>
  );
}
