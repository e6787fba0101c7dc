/**
 * @library @langchain/langgraph-checkpoint 1.2.2
 * @patch Replaces `dumpsTyped` and `loadsTyped` on the prototype of the library's own serializer, in each copy that graphs use.
 * @why The savers and caches that graphs bring themselves (a MemorySaver in a nested graph, an InMemoryCache for nodes) make
 * objects of any class of LangChain that a run's input names.
 * @upstream https://github.com/langchain-ai/langgraphjs/issues/2346 and https://github.com/langchain-ai/langgraphjs/pull/2684
 * @remove When the serializer takes a list of classes.
 */
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';

interface Exports {
  MemorySaver?: new () => { serde: SerializerProtocol };
}

const closed = new WeakSet<SerializerProtocol>();

/**
 * Has the library's own savers and caches serialize with another serializer.
 * @param exports what one build of the library exports
 * @param ours makes the serializer; called once for each build
 */
export function closeSerializer(exports: Record<string, unknown>, ours: () => SerializerProtocol): void {
  const { MemorySaver } = exports as Exports;
  if (!MemorySaver) return;
  const shared = Object.getPrototypeOf(new MemorySaver().serde) as SerializerProtocol;
  if (closed.has(shared)) return;
  closed.add(shared);
  const serializer = ours();
  shared.dumpsTyped = (value) => serializer.dumpsTyped(value);
  shared.loadsTyped = (type, data) => serializer.loadsTyped(type, data);
}
