import { type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import { RemoteGraph } from '@langchain/langgraph/remote';
import { z } from 'zod';

const Relay = z.object({ hops: z.number().default(0), seen: z.record(z.string(), z.unknown()).default({}) });

/**
 * Calls itself through the API as often as its input says, each time with its own config, and returns what the last call finds
 * in its config. Only the thread is another one: its own is busy until the call ends.
 */
export const relay = new StateGraph(Relay)
  .addNode('pass', async ({ hops }, config: LangGraphRunnableConfig) => {
    const { configurable = {}, context } = config;
    if (hops === 0) return { seen: { configurable: configurable.mood as unknown, context: context?.mood as unknown } };
    const remote = new RemoteGraph({ graphId: 'relay', url: String(configurable.peer) });
    const { seen } = (await remote.invoke(
      { hops: hops - 1 },
      { ...config, configurable: { ...configurable, thread_id: undefined } },
    )) as z.infer<typeof Relay>;
    return { seen };
  })
  .addEdge(START, 'pass')
  .addEdge('pass', '__end__')
  .compile({ name: 'relay' });
