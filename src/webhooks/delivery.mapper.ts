import { AttemptEntity, AttemptOutcome } from './attempt.entity';
import { DeliveryEntity } from './delivery.entity';
import { AttemptResponse, DeliveryDetailResponse, DeliveryResponse } from './webhooks.schemas';

export function toDelivery(row: DeliveryEntity): DeliveryResponse {
  return {
    delivery_id: row.deliveryId,
    webhook_id: row.webhookId,
    kind: row.kind,
    run_id: row.runId,
    thread_id: row.threadId,
    export_id: row.exportId,
    replay_of: row.replayOf,
    url: row.maskedUrl,
    host: row.host,
    status: row.status,
    attempt_count: row.attemptCount,
    max_attempts: row.maxAttempts,
    last_outcome: row.lastOutcome as AttemptOutcome | null,
    last_response_code: row.lastResponseCode,
    last_error: row.lastError,
    next_attempt_at: row.nextAttemptAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
    body_bytes: row.payloadBytes,
    body_sha256: row.payloadSha256,
  };
}

export function toDeliveryDetail(row: DeliveryEntity, attempts: AttemptEntity[]): DeliveryDetailResponse {
  return { ...toDelivery(row), attempts: attempts.map((attempt) => toAttempt(attempt, row.maxAttempts)) };
}

function toAttempt(row: AttemptEntity, maxAttempts: number): AttemptResponse {
  return {
    attempt: row.attempt,
    max_attempts: maxAttempts,
    planned_at: row.plannedAt.toISOString(),
    started_at: row.startedAt.toISOString(),
    duration_ms: row.durationMs,
    outcome: row.outcome,
    response_code: row.responseCode,
    response_excerpt: row.responseExcerpt,
    error: row.error,
    request_headers: row.requestHeaders,
    signed_with: row.signedWith,
    next_attempt_at: row.nextAttemptAt?.toISOString() ?? null,
  };
}
