import { answerOf, api } from '../../api/client';
import type { Schemas } from '../../api/info';
import { messagesOf, textOf } from '../../ui/chat-messages';

type Found = Schemas['FoundThread'];

/** A thread of the list: with its last message, or else the beginning of its values as JSON. */
export interface Thread extends Omit<Found, 'values'> {
  summary: string;
}

/** Fields of a thread that the list needs. Its values may be large, and the list is read every few seconds. */
const FIELDS = ['thread_id' as const, 'status' as const, 'metadata' as const, 'updated_at' as const];
const LAST = { last: 'values.messages[-1]' };
/** Longer than a row is wide. */
const SHOWN = 300;

/** Summaries of the values of threads without messages, by the id of each and the time to which they belong. */
const summaries = new Map<string, string>();
/** Summaries that are kept: after more of them, those of the list are read again. */
const MOST_KEPT = 10_000;
const keyOf = ({ thread_id: id, updated_at: at }: Found): string => `${id} ${at}`;

const textOfValues = (values: unknown): string => (values == null ? '' : JSON.stringify(values).slice(0, SHOWN));

/** The text of the last message; undefined for a thread without messages that can be shown. */
function lastText({ extracted }: Found): string | undefined {
  const [last] = messagesOf({ messages: [extracted?.last] }) ?? [];
  return last && textOf(last.content).slice(0, SHOWN);
}

/** Searches threads. The values of a thread without messages are read once for each of its changes. */
export async function findThreads(body: object): Promise<Thread[]> {
  const found = await answerOf(api.POST('/threads/search', { body: { ...body, select: FIELDS, extract: LAST } }));
  const unknown = found.filter((thread) => lastText(thread) === undefined && !summaries.has(keyOf(thread)));
  if (unknown.length > 0) {
    const ids = unknown.map(({ thread_id: id }) => id!);
    const select = ['thread_id' as const, 'updated_at' as const, 'values' as const];
    const read = await answerOf(api.POST('/threads/search', { body: { ids, select, limit: ids.length } }));
    if (summaries.size > MOST_KEPT) summaries.clear();
    for (const thread of read) summaries.set(keyOf(thread), textOfValues(thread.values));
  }
  return found.map((thread) => ({ ...thread, summary: lastText(thread) ?? summaries.get(keyOf(thread)) ?? '' }));
}
