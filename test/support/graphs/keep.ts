import type { RunnableConfig } from '@langchain/core/runnables';
import { END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';

const Kept = z.object({
  value: z.any(),
  /** Requests another value by an interrupt. */
  ask: z.boolean().default(false),
  answer: z.any(),
  stored: z.any(),
  seen: z.string().default(''),
});

/** The names of the classes of whatever is in a value. */
function classesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = (Object.getPrototypeOf(value) as object | null)?.constructor;
  const name = own === Object ? 'plain' : own === Array ? 'list' : (own?.name ?? 'none');
  return [...new Set([name, ...Object.values(value).flatMap(classesIn)])].sort();
}

/** Stores its input, and reports in a later step what that has become, and the names of the thread's own classes. */
export const keep = new StateGraph(Kept)
  .addNode('take', ({ ask, value }) => (ask ? { answer: interrupt<unknown>({ asked: value as unknown }) } : {}))
  .addNode('look', async ({ value, answer }, { store }: RunnableConfig & { store?: ItemReader }) => {
    const stored = (await store?.get(['kept'], 'item'))?.value;
    // Kept like in a saver or a cache that the graph brings itself.
    const { serde } = new MemorySaver();
    const before = await serde.loadsTyped(...(await serde.dumpsTyped(value)));
    const classes = classesIn([value, answer, stored, before]);
    return { stored, seen: JSON.stringify({ classes, own: [Object.name, Array.name, Function.name, Promise.name] }) };
  })
  .addEdge(START, 'take')
  .addEdge('take', 'look')
  .addEdge('look', END)
  .compile({ name: 'keep' });

interface ItemReader {
  get(namespace: string[], key: string): Promise<{ value: unknown } | null>;
}
