import { Injectable } from '@nestjs/common';
import { EntityManager } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { addDays, Instant } from '../instant';
import { rangeOf, StartRange } from '../run-starts';
import { RunChange } from './run-merge';
import { addPosition, computePositions, parentsToRead, TracePosition } from './run-positions';
import { TraceIngestRepository } from './trace-ingest.repository';

/** Traces that an upload changes by the positions that were computed for its runs. */
export interface UnsettledTraces {
  traceIds: string[];
  /** Runs that were placed in a trace of another run. Runs that arrived before them may have taken them for roots. */
  childIds: string[];
  /** Starts of the runs that these changes concern: an upload can't look for them on every day that there is. */
  around: StartRange | undefined;
}

/** Days between runs of a trace within which their order of arrival doesn't matter. */
const MAX_DAYS_APART = 7;

/** Positions of runs whose clients send only the parent's id, in any order of arrival. */
@Injectable()
export class TracePositions {
  constructor(private readonly runs: TraceIngestRepository) {}

  /** Adds the missing positions to the changes, and locks the traces that these are in until the end of the transaction. */
  async complete(
    manager: EntityManager,
    tenantId: TenantId,
    changes: Map<string, RunChange>,
  ): Promise<UnsettledTraces> {
    const parentIds = parentsToRead(changes);
    const locked = new Set<string>();
    let stored = new Map<string, TracePosition>();
    for (;;) {
      const positions = computePositions(changes, stored);
      const untraced = [...positions].filter(([runId]) => !changes.get(runId)?.trace_id);
      // A run without a trace may be the trace of others, until it is placed in another one.
      const concerned = new Set([
        ...[...positions.values()].map(({ traceId }) => traceId),
        ...untraced.map(([runId]) => runId),
      ]);
      const toLock = [...concerned].filter((id) => !locked.has(id));
      if (toLock.length === 0) {
        for (const [runId, position] of positions) addPosition(changes.get(runId)!, position);
        return {
          traceIds: [...new Set([...positions.values()].map(({ traceId }) => traceId))],
          childIds: untraced.filter(([runId, { traceId }]) => traceId !== runId).map(([runId]) => runId),
          around: around([...positions.keys()].flatMap((runId) => changes.get(runId)?.start_time?.value ?? [])),
        };
      }
      await this.runs.lockTraces(manager, tenantId, toLock);
      for (const id of toLock) locked.add(id);
      // Under the locks, since another upload may have stored or moved a parent meanwhile.
      if (parentIds.length > 0) stored = await this.runs.positions(manager, tenantId, parentIds);
    }
  }

  /** Moves runs that arrived before these ones to the place in the tree that they have now. */
  async settle(
    manager: EntityManager,
    tenantId: TenantId,
    { traceIds, childIds, around: starts }: UnsettledTraces,
  ): Promise<void> {
    if (!starts) return;
    if (childIds.length > 0) await this.runs.joinTraces(manager, tenantId, childIds, starts);
    if (traceIds.length > 0) await this.runs.settleTraces(manager, tenantId, traceIds, starts);
  }
}

function around(starts: string[]): StartRange | undefined {
  if (starts.length === 0) return undefined;
  const [first, last] = rangeOf(starts as Instant[]);
  return [addDays(first, -MAX_DAYS_APART), addDays(last, MAX_DAYS_APART)];
}
