import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useTemporalLink } from '../../api/info';
import { Button } from '../../ui/button';
import { CopyButton } from '../../ui/copy-button';
import { Loaded } from '../../ui/feedback';
import { bytes } from '../../ui/numbers';
import { Facts, Page, Section } from '../../ui/page';
import { Status } from '../../ui/status';
import { notifyError } from '../../ui/toast';
import { duration, Time } from '../../ui/time';
import { type Attempt, curlOf, type DeliveryDetail, deliveryQuery, redeliver } from './webhooks-api';

function AttemptCard({ delivery, attempt }: { delivery: DeliveryDetail; attempt: Attempt }) {
  return (
    <li className="card px-4 py-3">
      <header className="flex flex-wrap items-center gap-3">
        <span className="font-medium">{`Attempt ${attempt.attempt}`}</span>
        <Status status={attempt.outcome ?? 'running'} />
        <span className="text-muted tabular-nums">
          {[attempt.response_code, attempt.duration_ms !== null && duration(attempt.duration_ms)]
            .filter(Boolean)
            .join(' · ')}
        </span>
        <span className="ml-auto flex items-center gap-1">
          <Time at={attempt.started_at} />
          <CopyButton text={curlOf(delivery, attempt)} label="Copy the request as curl" />
        </span>
      </header>
      {attempt.error && <p className="mt-1 text-bad">{attempt.error}</p>}
      {attempt.response_excerpt && (
        <pre className="mt-2 max-h-40 overflow-auto rounded-md bg-sunken px-3 py-2 text-xs whitespace-pre-wrap">
          {attempt.response_excerpt}
        </pre>
      )}
      <details className="mt-2">
        <summary className="text-xs text-muted">Request headers</summary>
        <pre className="mt-1 overflow-auto text-xs whitespace-pre-wrap">
          {Object.entries(attempt.request_headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        </pre>
      </details>
    </li>
  );
}

export default function DeliveryPage() {
  const { deliveryId } = useParams({ strict: false }) as { deliveryId: string };
  const query = useQuery(deliveryQuery(deliveryId));
  const temporal = useTemporalLink(`webhook-${deliveryId}`);
  const client = useQueryClient();
  const navigate = useNavigate();
  const again = useMutation({
    mutationFn: () => redeliver(deliveryId),
    onError: notifyError,
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ['deliveries'] });
      void navigate({ to: `/webhooks/${made.delivery_id}` as never });
    },
  });
  const delivery = query.data;
  return (
    <Page
      title={delivery?.host ?? 'Delivery'}
      parent={{ title: 'Webhooks', to: '/webhooks' }}
      beside={delivery && <Status status={delivery.status} />}
      temporal={temporal}
      call={{ method: 'GET', path: `/webhooks/deliveries/${deliveryId}` }}
      actions={
        <Button small icon="retry" disabled={!delivery || again.isPending} onClick={() => again.mutate()}>
          Send again
        </Button>
      }
    >
      <Loaded of={query}>
        {(delivery) => (
          <div className="space-y-6">
            <Section title="Delivery">
              <Facts
                facts={[
                  ['Receiver', <span className="font-mono text-xs">{delivery.url}</span>],
                  ['Webhook id', <span className="font-mono text-xs">{delivery.webhook_id}</span>],
                  [
                    'Of',
                    delivery.run_id && delivery.thread_id ? (
                      <Link
                        to={`/threads/${delivery.thread_id}` as never}
                        className="text-accent hover:underline"
                      >{`run ${delivery.run_id}`}</Link>
                    ) : delivery.export_id ? (
                      <Link
                        to={`/exports/${delivery.export_id}` as never}
                        className="text-accent hover:underline"
                      >{`export ${delivery.export_id}`}</Link>
                    ) : (
                      delivery.kind
                    ),
                  ],
                  ['Body', `${bytes(delivery.body_bytes)}, SHA-256 ${delivery.body_sha256.slice(0, 12)}…`],
                  ['Attempts', `${delivery.attempt_count} of ${delivery.max_attempts}`],
                  ['Next attempt', <Time at={delivery.next_attempt_at} />],
                  ['Created', <Time at={delivery.created_at} />],
                  ['Finished', <Time at={delivery.finished_at} />],
                ]}
              />
            </Section>
            <Section title="Attempts">
              <ol className="space-y-2">
                {delivery.attempts.toReversed().map((attempt) => (
                  <AttemptCard key={`${attempt.attempt} ${attempt.started_at}`} delivery={delivery} attempt={attempt} />
                ))}
                {delivery.attempts.length === 0 && <li className="text-muted">None yet.</li>}
              </ol>
            </Section>
          </div>
        )}
      </Loaded>
    </Page>
  );
}
