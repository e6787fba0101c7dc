/** The answer of a streaming route as OpenAPI describes it: server-sent events. */
export const EVENT_STREAM = {
  description: 'Server-sent events: `event`, `data` (JSON), `id`',
  content: { 'text/event-stream': { schema: { type: 'string' as const } } },
};
