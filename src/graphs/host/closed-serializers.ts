import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { CheckpointSerializer } from './checkpoint-serializer';
import type { CheckpointLibrary } from './project-libraries';

interface Exports {
  MemorySaver?: new () => { serde: SerializerProtocol };
}

const closed = new WeakSet<SerializerProtocol>();

/**
 * Gives the savers and caches that graphs bring themselves (a MemorySaver in a nested graph, an InMemoryCache for nodes) the
 * serialiser of ours: the library's own makes objects of what a run's input names (langgraph-checkpoint 1.2.2; can go when
 * it takes a list of classes).
 */
export function closeSerializers(libraries: CheckpointLibrary[]): void {
  for (const { file, exports } of libraries) {
    const { MemorySaver } = exports as Exports;
    if (MemorySaver) close(new MemorySaver().serde, new CheckpointSerializer(file));
  }
}

function close(library: SerializerProtocol, ours: CheckpointSerializer): void {
  const shared = Object.getPrototypeOf(library) as SerializerProtocol;
  if (closed.has(shared)) return;
  closed.add(shared);
  shared.dumpsTyped = (value) => ours.dumpsTyped(value);
  shared.loadsTyped = (type, data) => ours.loadsTyped(type, data);
}
