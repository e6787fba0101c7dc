import { naive } from '../trace-wire';
import type { FeedbackRow } from './feedback.repository';

/** Feedback as trace clients read it; the Python model requires `run_id` and `trace_id`. */
export function toFeedback(row: FeedbackRow) {
  return {
    id: row.feedback_id,
    created_at: naive(row.created_at),
    modified_at: naive(row.modified_at),
    run_id: row.run_id,
    trace_id: row.trace_id,
    session_id: row.project_id,
    key: row.key,
    score: row.score,
    value: row.value,
    comment: row.comment,
    correction: row.correction,
    feedback_source: row.feedback_source,
    feedback_group_id: row.feedback_group_id,
    comparative_experiment_id: row.comparative_experiment_id,
    extra: row.extra,
  };
}
