import type { EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import type { Instant } from './instant';
import { selectInstant } from './trace-wire';

/**
 * The earliest and the latest start of some runs. Statements that have them as parameters plan and lock the partitions of these
 * days alone: with the partitions of years and their indexes they would need more locks than Postgres has.
 */
export type StartRange = [first: Instant, last: Instant];

/** The starts of runs by their ids; undefined when none of them is stored. */
export async function startsOf(
  database: Pick<EntityManager, 'query'>,
  tenantId: TenantId,
  runIds: string[],
): Promise<StartRange | undefined> {
  const [{ first, last }] = await database.query<[{ first: Instant | null; last: Instant | null }]>(
    `SELECT ${selectInstant('min(start_time)')} AS first, ${selectInstant('max(start_time)')} AS last
     FROM trace_run_keys WHERE tenant_id = $1 AND run_id = ANY ($2::uuid[])`,
    [tenantId, runIds],
  );
  return first && last ? [first, last] : undefined;
}

/** The earliest and the latest of these moments. */
export function rangeOf(moments: Instant[]): StartRange {
  const sorted = [...moments].sort();
  return [sorted[0], sorted[sorted.length - 1]];
}
