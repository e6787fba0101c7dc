import { useQuery } from '@tanstack/react-query';
import { useInfo } from '../../api/info';
import { metricOf, type Metrics, metricsQuery } from '../../api/metrics';
import { Button } from '../../ui/button';
import { Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icons';
import { bytes, whole } from '../../ui/numbers';
import { Facts, Page, Section } from '../../ui/page';
import { Status } from '../../ui/status';
import { duration } from '../../ui/time';
import { allFindings, type Finding, findingsQuery, healthQuery } from './findings';

const MARKS = { ok: 'text-good', warning: 'text-wait', failure: 'text-bad' };

function Findings({ findings }: { findings: Finding[] }) {
  return (
    <ul aria-label="Findings" className="card divide-y divide-line">
      {findings.map(({ name, state, detail, remedy }) => (
        <li key={name} className="grid gap-x-3 px-4 py-2 sm:grid-cols-[5rem_10rem_1fr]">
          <span className={`flex items-center gap-1.5 text-xs font-medium sm:self-start sm:pt-0.5 ${MARKS[state]}`}>
            <Icon name={state === 'ok' ? 'check' : 'warning'} size={14} />
            {state}
          </span>
          <span className="font-medium">{name}</span>
          <span className="min-w-0 break-words text-soft">
            {detail}
            {remedy && <span className="block text-ink">{remedy}</span>}
          </span>
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
  const findings = useQuery(findingsQuery);
  const metrics = useQuery(metricsQuery);
  return (
    <Page
      title="System"
      beside={health.data && <Status status={health.data.ok ? 'healthy' : 'unhealthy'} />}
      call={{ method: 'GET', path: '/system/findings' }}
    >
      <div className="space-y-6">
        <Section
          title="Findings"
          beside={
            findings.data && (
              <Button small onClick={() => void findings.refetch()} disabled={findings.isFetching}>
                Check again
              </Button>
            )
          }
        >
          <Loaded of={findings} lines={12}>
            {(ofServer) => (
              <>
                <Findings findings={allFindings(ofServer, health.data, info, location.hostname)} />
                {ofServer === null && (
                  <p className="mt-2 text-muted">
                    The checks of the deployment itself need the operator’s API key, or the operator’s key given under
                    Settings.
                  </p>
                )}
              </>
            )}
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
          <code className="font-mono text-xs">npm run doctor</code> says the same in a terminal, also when Gantry
          doesn’t run.
        </p>
      </div>
    </Page>
  );
}
