import { dottedOrderSegment } from '../dotted-order';
import { Instant } from '../instant';
import { COMPUTED_RANK, DERIVED_RANK, RunChange } from './run-merge';
import { placeOf } from './run-statements';

/** Place of a run in the tree of its trace. */
export interface TracePosition {
  traceId: string;
  dottedOrder: string;
}

const isWithoutPosition = (change: RunChange): boolean =>
  placeOf(change) !== null && !(change.trace_id && change.dotted_order);

/** Parents of runs without positions, for each of which the upload itself gives no position. */
export function parentsToRead(changes: Map<string, RunChange>): string[] {
  const parents = new Set<string>();
  for (const change of changes.values()) {
    const parentId = isWithoutPosition(change) ? change.parent_run_id?.value : undefined;
    if (parentId !== undefined && !changes.get(parentId)?.dotted_order) parents.add(parentId);
  }
  return [...parents];
}

/**
 * Positions for the runs of clients that send neither trace_id nor dotted_order: a root begins a trace, and a child is in the
 * trace of its parent. A parent that is not known is taken for a root until it arrives.
 * @param stored positions of stored parents
 */
export function computePositions(
  changes: Map<string, RunChange>,
  stored: Map<string, TracePosition>,
): Map<string, TracePosition> {
  const computed = new Map<string, TracePosition>();
  const changeOf = (runId: string): RunChange | undefined => {
    const change = changes.get(runId);
    return change && isWithoutPosition(change) && !computed.has(runId) ? change : undefined;
  };
  for (const runId of changes.keys()) {
    // The run and those above it, until one whose position is known or that was passed already: a client may send a circle.
    const path = new Map<string, RunChange>();
    for (let id: string | undefined = runId; id !== undefined && !path.has(id);) {
      const change = changeOf(id);
      if (!change) break;
      path.set(id, change);
      id = change.parent_run_id?.value;
    }
    for (const [id, change] of [...path].reverse()) {
      const parentId = change.parent_run_id?.value;
      const above =
        parentId === undefined
          ? undefined
          : (givenPosition(changes.get(parentId)) ?? stored.get(parentId) ?? computed.get(parentId));
      const segment = dottedOrderSegment(change.start_time?.value as Instant, id);
      computed.set(id, {
        traceId: change.trace_id?.value ?? above?.traceId ?? parentId ?? id,
        dottedOrder: above === undefined ? segment : `${above.dottedOrder}.${segment}`,
      });
    }
  }
  return computed;
}

function givenPosition(change: RunChange | undefined): TracePosition | undefined {
  return change?.trace_id && change.dotted_order
    ? { traceId: change.trace_id.value, dottedOrder: change.dotted_order.value }
    : undefined;
}

/** Adds a computed position to the change of its run, ranked below those that clients send. */
export function addPosition(change: RunChange, { traceId, dottedOrder }: TracePosition): void {
  const rank = change.start_time?.rank === DERIVED_RANK ? DERIVED_RANK : COMPUTED_RANK;
  change.trace_id ??= { value: traceId, rank };
  change.dotted_order ??= { value: dottedOrder, rank };
}
