import { z } from 'zod';
import { uuid } from '../http/uuid';
import { ATTEMPT_OUTCOMES } from './attempt.entity';
import { DELIVERY_KINDS, DELIVERY_STATUSES } from './delivery.entity';

const time = z.iso.datetime();

export const listDeliveriesQuery = z.object({
  run_id: uuid.optional().describe('Deliveries of this run'),
  thread_id: uuid.optional().describe('Deliveries of runs on this thread'),
  export_id: uuid.optional().describe('Deliveries of this bulk export'),
  status: z.enum(DELIVERY_STATUSES).optional(),
  host: z
    .string()
    .min(1)
    .max(300)
    .toLowerCase()
    .optional()
    .describe('Host, with its port when that is not the default one'),
  limit: z.coerce.number().int().min(1).max(1000).default(10),
  offset: z.coerce.number().int().min(0).default(0),
});
export type ListDeliveriesQuery = z.output<typeof listDeliveriesQuery>;

export const deliveryParams = z.object({ delivery_id: uuid });
export type DeliveryParams = z.output<typeof deliveryParams>;

export const testWebhookBody = z.object({
  url: z.string().min(1).max(65_536).describe('Where to send the sample; the same rules as for the webhook of a run'),
});
export type TestWebhookBody = z.output<typeof testWebhookBody>;

export const deliverySchema = z
  .object({
    delivery_id: z.guid(),
    webhook_id: z.string().describe('The webhook-id header: the same for all attempts and replays of a message'),
    kind: z.enum(DELIVERY_KINDS),
    run_id: z.guid().nullable(),
    thread_id: z.guid().nullable(),
    export_id: z.guid().nullable(),
    replay_of: z.guid().nullable().describe('The delivery that was sent again'),
    url: z.string().describe('With its query values masked'),
    host: z.string(),
    status: z.enum(DELIVERY_STATUSES),
    attempt_count: z.number().int(),
    max_attempts: z.number().int(),
    last_outcome: z.enum(ATTEMPT_OUTCOMES).nullable(),
    last_response_code: z.number().int().nullable(),
    last_error: z.string().nullable(),
    next_attempt_at: time.nullable(),
    created_at: time,
    finished_at: time.nullable(),
    body_bytes: z.number().int(),
    body_sha256: z.string(),
  })
  .meta({ id: 'WebhookDelivery' });
export type DeliveryResponse = z.output<typeof deliverySchema>;

export const attemptSchema = z
  .object({
    attempt: z.number().int().describe('Repeated when a worker died during it'),
    max_attempts: z.number().int(),
    planned_at: time,
    started_at: time,
    duration_ms: z.number().int().nullable(),
    outcome: z.enum(ATTEMPT_OUTCOMES).nullable().describe('null while it is in flight'),
    response_code: z.number().int().nullable(),
    response_excerpt: z.string().nullable().describe('The first bytes of the answer'),
    error: z.string().nullable(),
    request_headers: z.record(z.string(), z.string()).describe('Configured headers masked'),
    signed_with: z.array(z.string()).describe('Names of the signing keys'),
    next_attempt_at: time.nullable(),
  })
  .meta({ id: 'WebhookAttempt' });
export type AttemptResponse = z.output<typeof attemptSchema>;

export const deliveryDetailSchema = deliverySchema
  .extend({ attempts: z.array(attemptSchema) })
  .meta({ id: 'WebhookDeliveryDetail' });
export type DeliveryDetailResponse = z.output<typeof deliveryDetailSchema>;

export const deliveryListSchema = z.array(deliverySchema);
