import type { TraceRunRow } from '../query/trace-runs.repository';
import { toRunV1, toRunV2 } from '../query/trace-run.mapper';

/** Feedback without what people wrote, and without who they are. */
function anonymous(stats: TraceRunRow['feedback_stats']): TraceRunRow['feedback_stats'] {
  return (
    stats &&
    Object.fromEntries(
      Object.entries(stats).map(([key, stat]) => [key, { ...(stat as object), comments: [], sources: [] }]),
    )
  );
}

export function toSharedRunV2(row: TraceRunRow, selects: string[]): Record<string, unknown> {
  return toRunV2({ ...row, feedback_stats: anonymous(row.feedback_stats) }, selects);
}

/** A shared run in the first version, without the path in this server's own pages, which names the tenant. */
export function toSharedRunV1(row: TraceRunRow) {
  return { ...toRunV1({ ...row, feedback_stats: anonymous(row.feedback_stats) }), app_path: '' };
}
