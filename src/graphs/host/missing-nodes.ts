import type { Checkpoint, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import type { AnyGraph } from './graph-loader';
import type { ExecuteRequest } from './protocol';
import type { RunCheckpointSaver } from './run-checkpoint-saver';

/** Channels in which the library keeps who is next: an edge's target, a join of several, and what a Send addresses. */
const EDGE = /^branch:to:(.+)$/;
const JOIN = /^join:(.+):([^:]+)$/;
const SENDS = '__pregel_tasks';

/** The thread waits at a node that the deployed graph doesn't have. */
export class NodeNotFound extends Error {
  override readonly name = 'NodeNotFound';
}

/**
 * The library starts no task for a node that isn't there any more, and calls that a success: the person who answers an
 * interrupt after a deploy would see nothing happen.
 * @throws {NodeNotFound} naming the nodes, and what can be done
 */
export async function refuseMissingNodes(
  graph: AnyGraph,
  saver: RunCheckpointSaver,
  { threadId, graphId, metadata, kwargs }: ExecuteRequest,
): Promise<void> {
  const tuple = await saver.getTuple({ configurable: { thread_id: threadId, ...kwargs.checkpoint } });
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

function nextNodes({ channel_values: values }: Checkpoint): string[] {
  return Object.entries(values).flatMap(([channel, value]) => {
    const [, edge] = EDGE.exec(channel) ?? [];
    if (edge !== undefined) return [edge];
    const [, starts, end] = JOIN.exec(channel) ?? [];
    // A join fires when each of its starts has come.
    if (starts !== undefined) return Array.isArray(value) && value.length === starts.split('+').length ? [end] : [];
    if (channel === SENDS && Array.isArray(value)) {
      return (value as { node?: unknown }[]).flatMap(({ node }) => (typeof node === 'string' ? [node] : []));
    }
    return [];
  });
}

function revisionOf(metadata: CheckpointTuple['metadata'] | Record<string, unknown>): string {
  const revision = (metadata as Record<string, unknown> | undefined)?.revision_id;
  return typeof revision === 'string' ? revision : 'unknown';
}
