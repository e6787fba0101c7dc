import { v7 as uuidv7 } from 'uuid';
import { storableText } from '../../database/storable-text';
import { storableJsonb } from '../stored-text';
import { traceErrors } from '../trace.errors';
import type { FeedbackChanges, FeedbackValues } from './feedback.repository';
import { createFeedbackSchema } from './feedback.schemas';
import type { CreateFeedback, UpdateFeedback } from './feedback.schemas';

/**
 * The row of a feedback part of an upload.
 * @throws {ApiError} 422 naming the part and the field.
 */
export function readFeedbackPart(id: string, body: Record<string, unknown>): FeedbackValues {
  const parsed = createFeedbackSchema.safeParse(body);
  if (parsed.success) return toValues({ ...parsed.data, id: parsed.data.id ?? id });
  const [issue] = parsed.error.issues;
  throw traceErrors.invalid(`feedback.${id}.${issue?.path.join('.') ?? ''}`, issue?.message ?? 'is not feedback');
}

export function toValues(item: CreateFeedback): FeedbackValues {
  return {
    feedback_id: item.id?.toLowerCase() ?? uuidv7(),
    run_id: item.run_id ?? null,
    trace_id: item.trace_id ?? null,
    project_id: item.session_id ?? null,
    key: storableText(item.key),
    score: item.score?.toString() ?? null,
    value: json(item.value),
    comment: text(item.comment),
    correction: json(item.correction),
    feedback_source: json(item.feedback_source),
    feedback_config: json(item.feedback_config),
    feedback_group_id: item.feedback_group_id ?? null,
    comparative_experiment_id: item.comparative_experiment_id ?? null,
    extra: json(item.extra),
    error: item.error === true ? 'true' : null,
    created_at: item.created_at ?? null,
    modified_at: item.modified_at ?? null,
  };
}

/** The columns that an update names. Null clears a field. */
export function toChanges({ score, value, comment, correction, feedback_config }: UpdateFeedback): FeedbackChanges {
  return {
    ...(score !== undefined && { score: score?.toString() ?? null }),
    ...(value !== undefined && { value: json(value) }),
    ...(comment !== undefined && { comment: text(comment) }),
    ...(correction !== undefined && { correction: json(correction) }),
    ...(feedback_config !== undefined && { feedback_config: json(feedback_config) }),
  };
}

/** Characters of a row, about. */
export function weigh(values: FeedbackValues): number {
  return Object.values(values).reduce((sum, value) => sum + (value?.length ?? 0), 0);
}

const text = (value: string | null | undefined): string | null => (value ? storableText(value) : (value ?? null));
const json = (value: unknown): string | null => (value === undefined || value === null ? null : storableJsonb(value));
