import type { RunnableConfig } from '@langchain/core/runnables';
import type { BaseStore, LangGraphRunnableConfig } from '@langchain/langgraph';
import { END, getStore, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
import { pause, recordExecution } from './ledger-node';

const Notes = z.object({
  user: z.string().default('ada'),
  note: z.string().default(''),
  found: z.array(z.string()).default([]),
  seen: z.record(z.string(), z.unknown()).default({}),
});

/** The operations of a node; the library's own types know neither the options of a put nor a failed listing. */
interface Memory extends BaseStore {
  put(
    namespace: string[],
    key: string,
    value: Record<string, unknown>,
    index?: false | string[],
    options?: { ttl?: number | null },
  ): Promise<void>;
}

const memoryOf = (config: LangGraphRunnableConfig): Memory => config.store as Memory;

const inner = new StateGraph(Notes)
  .addNode('recall', async ({ user }, config: LangGraphRunnableConfig) => {
    const items = await memoryOf(config).search(['notes', user], { limit: 100 });
    return { found: items.map(({ key, value }) => `${key}=${String(value.text)}`).sort() };
  })
  .addEdge(START, 'recall')
  .addEdge('recall', END)
  .compile({ name: 'inner' });

/** Writes a note in one node, and reads all notes in a nested graph: by the config, and by getStore(). */
export const memory = new StateGraph(Notes)
  .addNode('write', async ({ user, note }) => {
    if (note !== '') await getStore()!.put(['notes', user], note, { text: note });
    return {};
  })
  .addNode('recall', inner)
  .addNode('look', async ({ user }, config: LangGraphRunnableConfig) => {
    const store = memoryOf(config);
    const item = await store.get(['notes', user], 'from-api');
    return {
      seen: {
        fromApi: item?.value ?? null,
        createdAt: item?.createdAt instanceof Date,
        nothing: await store.get(['notes', user], 'nothing'),
        namespaces: await store.listNamespaces({ prefix: ['notes'] }),
      },
    };
  })
  .addEdge(START, 'write')
  .addEdge('write', 'recall')
  .addEdge('recall', 'look')
  .addEdge('look', END)
  .compile({ name: 'memory' });

const Operations = z.object({ results: z.record(z.string(), z.unknown()).default({}) });

const outcomeOf = (operation: Promise<unknown>): Promise<unknown> =>
  operation.then(
    () => 'done',
    (error: Error) => `${error.name}: ${error.message}`,
  );

/** Operations of a node on the store, allowed and refused ones. */
export const operations = new StateGraph(Operations)
  .addNode('operate', async (_, config: LangGraphRunnableConfig) => {
    const store = memoryOf(config);
    const together = await Promise.all([
      outcomeOf(store.put(['ops'], 'good', { n: 1 })),
      outcomeOf(store.put(['langgraph', 'x'], 'bad', {})),
      outcomeOf(store.put(['a.b'], 'bad', {})),
      outcomeOf(store.put(['ops'], 'bad', 'text' as never)),
      outcomeOf(store.put(['ops'], 'bad', { big: 1n })),
      outcomeOf(store.search(['ops'], { filter: { n: { $near: 1 } } })),
    ]);
    await store.put(['ops'], 'indexed', { text: 'tea', other: 'coffee' }, ['other'], { ttl: 1.5 });
    await store.put(['ops'], 'plain', { text: 'tea' }, false);
    await store.put(['ops'], 'gone', {});
    await store.delete(['ops'], 'gone');
    const items = await store.search(['ops'], { query: 'coffee', limit: 5 });
    const { isRunning: polls } = store as unknown as { isRunning: boolean };
    return { results: { together, found: items.map(({ key, score }) => [key, score !== undefined]), polls } };
  })
  .addEdge(START, 'operate')
  .addEdge('operate', END)
  .compile({ name: 'operations' });

const Slow = z.object({ key: z.string(), wait_ms: z.number().default(0), pauses_first: z.boolean().default(false) });

/** Puts an item that says which attempt wrote it, and then takes its time (or the other way round). */
export const slow = new StateGraph(Slow)
  .addNode('remember', async ({ key, wait_ms, pauses_first }, config: RunnableConfig & LangGraphRunnableConfig) => {
    const ended = await recordExecution('remember', config);
    const attempt = Number((config.configurable as { run_attempt: number }).run_attempt);
    // Ignores the abort, like code that waits for a slow service.
    if (pauses_first && attempt === 1) await pause(wait_ms, undefined);
    await memoryOf(config).put(['slow'], key, { attempt, text: String(attempt).repeat(100_000) });
    if (!pauses_first && attempt === 1) await pause(wait_ms, config.signal);
    await ended();
    return {};
  })
  .addEdge(START, 'remember')
  .addEdge('remember', END)
  .compile({ name: 'slow' });
