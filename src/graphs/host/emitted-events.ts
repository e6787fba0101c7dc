import type { EmittedEvents } from '../../streams/run-event';
import type { RunEventMessage } from './protocol';

/**
 * The events of a repeated attempt without those that an earlier one has emitted already: LangGraph begins again by
 * repeating the state of the checkpoint (`values`, and its messages) and the results of finished nodes beside the lost one
 * (`updates`, marked as cached).
 */
export async function* withoutEmitted<T>(
  events: AsyncGenerator<RunEventMessage, T>,
  emitted: EmittedEvents,
): AsyncGenerator<RunEventMessage, T> {
  const facts = new Set(emitted.facts);
  for (;;) {
    const step = await events.next();
    if (step.done) return step.value;
    const message = step.value;
    const kind = message.event.split('|', 1)[0];
    if (kind === 'values' || kind === 'messages/complete') {
      if (facts.has(`${message.event} ${message.fact}`)) continue;
    } else if (kind === 'updates') {
      const data = withoutCacheMark(message.data);
      if (data !== undefined && emitted.updates[message.event]?.includes(data)) continue;
      if (data !== undefined) message.data = data;
    }
    yield message;
  }
}

/** The plain update, if LangGraph marks it as not computed now; otherwise undefined. */
function withoutCacheMark(json: string): string | undefined {
  if (!json.includes('"__metadata__"')) return undefined;
  const { __metadata__: mark, ...update } = JSON.parse(json) as Record<string, unknown>;
  return (mark as { cached?: boolean } | undefined)?.cached ? JSON.stringify(update) : undefined;
}
