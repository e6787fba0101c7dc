import { NIL } from 'uuid';

/** A body with the shape of a finished run's, for trying a receiver; `metadata.gantry_test` marks it. */
export function testPayload(maskedUrl: string, now: Date): Record<string, unknown> {
  const time = now.toISOString();
  return {
    run_id: NIL,
    thread_id: NIL,
    assistant_id: NIL,
    created_at: time,
    updated_at: time,
    metadata: { gantry_test: true },
    kwargs: {
      input: { messages: [{ role: 'user', content: 'This is a test of your webhook.' }] },
      config: {},
      webhook: maskedUrl,
    },
    multitask_strategy: 'enqueue',
    status: 'success',
    run_started_at: time,
    run_ended_at: time,
    webhook_sent_at: time,
    values: { messages: [] },
  };
}
