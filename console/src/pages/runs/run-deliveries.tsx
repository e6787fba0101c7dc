import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answerOf, api } from '../../api/client';
import { Empty, Loaded } from '../../ui/feedback';
import { Status } from '../../ui/status';
import { Time } from '../../ui/time';

const WATCH_MS = 3_000;

/** The webhook deliveries of a run, each with a link to its attempts. */
export function RunDeliveries({ runId }: { runId: string }) {
  const found = useQuery({
    queryKey: ['deliveries', 'of-run', runId],
    queryFn: () => answerOf(api.GET('/webhooks/deliveries', { params: { query: { run_id: runId } as never } })),
    refetchInterval: WATCH_MS,
  });
  return (
    <Loaded of={found}>
      {(deliveries) =>
        deliveries.length === 0 ? (
          <Empty icon="webhooks" title="No deliveries">
            A run that is created with a <code className="font-mono text-xs">webhook</code> is posted to that URL when
            it ends.
          </Empty>
        ) : (
          <ul aria-label="Webhook deliveries" className="card divide-y divide-line">
            {deliveries.map((delivery) => (
              <li key={delivery.delivery_id} className="flex flex-wrap items-center gap-3 px-4 py-2.5">
                <Status status={delivery.status} />
                <Link
                  to={`/webhooks/${delivery.delivery_id}`}
                  className="min-w-0 flex-1 truncate font-mono text-xs text-accent hover:underline"
                >
                  {delivery.url}
                </Link>
                <span className="text-xs text-muted tabular-nums">
                  {`${delivery.attempt_count} of ${delivery.max_attempts} attempts`}
                </span>
                <Time at={delivery.created_at} />
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}
