import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { nextNodes } from '../../patches/langgraph/graph-internals';
import type { AnyGraph } from './graph-loader';
import type { ExecuteRequest } from './protocol';
import type { RunCheckpointSaver } from './run-checkpoint-saver';

/** The thread waits at a node that the deployed graph doesn't have. */
export class NodeNotFound extends Error {
  override readonly name = 'NodeNotFound';
}

/**
 * The library starts no task for a node that no longer exists, and reports success: a person who answers an interrupt after a
 * deployment would see nothing happen.
 * @param start the checkpoint that the run starts from; the newest if absent
 * @throws {NodeNotFound} naming the nodes, and possible remedies
 */
export async function refuseMissingNodes(
  graph: AnyGraph,
  saver: RunCheckpointSaver,
  { threadId, graphId, metadata }: ExecuteRequest,
  start?: string,
): Promise<void> {
  const tuple = await saver.getTuple({ configurable: { thread_id: threadId, checkpoint_id: start } });
  if (!tuple) return;
  const missing = [...new Set(nextNodes(tuple.checkpoint))].filter((node) => !(node in graph.nodes));
  if (missing.length === 0) return;
  const names = missing.map((node) => `"${node}"`).join(', ');
  throw new NodeNotFound(
    `The thread waits at ${names}, which the graph "${graphId}" of revision ${revisionOf(metadata)} does not have; ` +
      `its state was written by revision ${revisionOf(tuple.metadata)}. Deploy a graph with that node, or update the ` +
      `thread's state as another node (as_node) and run it from there.`,
  );
}

function revisionOf(metadata: CheckpointTuple['metadata'] | Record<string, unknown>): string {
  const revision = (metadata as Record<string, unknown> | undefined)?.revision_id;
  return typeof revision === 'string' ? revision : 'unknown';
}
