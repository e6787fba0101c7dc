import { queryOptions } from '@tanstack/react-query';
import { getJson, getPage, sendJson } from '../../api/json';
import type { Schemas } from '../../api/info';
import { quoted } from '../../ui/shell';

export type Delivery = Schemas['WebhookDelivery'];
export type DeliveryDetail = Schemas['WebhookDeliveryDetail'];
export type Attempt = Schemas['WebhookAttempt'];

const DELIVERIES = '/webhooks/deliveries';
const PAGE_SIZE = 100;

export interface DeliveryFilter {
  status?: string;
  host?: string;
  run_id?: string;
}

export const listDeliveries = (filter: DeliveryFilter, offset: number) =>
  getPage<Delivery>(DELIVERIES, { ...filter, limit: PAGE_SIZE, offset });
export const redeliver = (id: string) => sendJson<Delivery>('POST', `${DELIVERIES}/${id}/redeliver`);
export const sendTest = (url: string) => sendJson<Delivery>('POST', '/webhooks/test', { url });

export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['deliveries', id],
    queryFn: () => getJson<DeliveryDetail>(`${DELIVERIES}/${id}`),
    refetchInterval: ({ state }) => (state.data?.finished_at === null ? 2_000 : false),
  });

/** The request of an attempt for a shell. Masked values stay masked: they are never sent to a page. */
export function curlOf(delivery: Delivery, attempt: Attempt): string {
  const headers = Object.entries(attempt.request_headers).map(
    ([name, value]) => `  -H ${quoted(`${name}: ${value}`)} \\`,
  );
  return [`curl -X POST ${quoted(delivery.url)} \\`, ...headers, `  --data @body.json`].join('\n');
}
