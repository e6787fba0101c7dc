import { z } from 'zod';
import { isStorable, STORABLE_RULE } from '../../database/storable-text';
import { hasStorableNumbers, NUMBER_RULE } from '../stored-text';
import { instantSchema, queryBoolean, queryList } from '../trace-wire';

const json = z.unknown().optional();

/** Statistics square them, which would overflow with larger ones. */
const MAX_SCORE = 1e100;
const score = z
  .union([z.number().min(-MAX_SCORE).max(MAX_SCORE), z.boolean()])
  .transform((value) => Number(value))
  .nullish();

const source = z
  .looseObject({ type: z.string().optional(), metadata: z.record(z.string(), json).nullish() })
  .refine(hasStorableNumbers, NUMBER_RULE)
  .nullish();

export const createFeedbackSchema = z.object({
  id: z.guid().optional(),
  run_id: z.guid().nullish(),
  trace_id: z.guid().nullish(),
  session_id: z.guid().nullish(),
  key: z.string().min(1).max(180),
  score,
  value: json,
  comment: z.string().nullish(),
  correction: json,
  feedback_source: source,
  feedback_config: json,
  feedback_group_id: z.guid().nullish(),
  comparative_experiment_id: z.guid().nullish(),
  extra: json,
  error: z.boolean().nullish(),
  created_at: instantSchema.nullish(),
  modified_at: instantSchema.nullish(),
});
export type CreateFeedback = z.output<typeof createFeedbackSchema>;

/** A field that null clears. */
const clearableJson = z.unknown().nullable().optional();

export const updateFeedbackSchema = z.object({
  score,
  value: clearableJson,
  comment: z.string().nullish(),
  correction: clearableJson,
  feedback_config: clearableJson,
});
export type UpdateFeedback = z.output<typeof updateFeedbackSchema>;

export const feedbackParamsSchema = z.object({ feedback_id: z.guid() });

export const feedbackTokenParams = z.object({ token: z.string().min(1) });

/** A century. */
const MAX_DAYS = 36_500;
const period = z.object({
  days: z.number().min(0).max(MAX_DAYS).optional(),
  hours: z
    .number()
    .min(0)
    .max(MAX_DAYS * 24)
    .optional(),
  minutes: z
    .number()
    .min(0)
    .max(MAX_DAYS * 24 * 60)
    .optional(),
});
const createFeedbackTokenSchema = z.object({
  run_id: z.guid(),
  feedback_key: z.string().min(1).max(180).refine(isStorable, STORABLE_RULE),
  feedback_config: json,
  expires_in: period.nullish(),
  expires_at: instantSchema.nullish(),
  /** Id of the feedback that will be left. */
  id: z.guid().nullish(),
});
export type CreateFeedbackToken = z.output<typeof createFeedbackTokenSchema>;

export const createFeedbackTokensSchema = z.union([
  createFeedbackTokenSchema,
  z.array(createFeedbackTokenSchema).min(1).max(100),
]);
export type CreateFeedbackTokens = z.output<typeof createFeedbackTokensSchema>;

export const listFeedbackTokensSchema = z.object({
  run_id: z.guid(),
  limit: z.coerce.number().int().min(1).max(100).default(100),
  offset: z.coerce.number().int().min(0).default(0),
});

/** Feedback by link, as a body. */
export const linkedFeedbackSchema = z.object({
  score,
  value: json,
  comment: z.string().nullish(),
  correction: json,
  metadata: z.record(z.string(), json).nullish(),
});
export type LinkedFeedback = z.output<typeof linkedFeedbackSchema>;

/** The same in a query, where all values are text. */
export const linkedFeedbackQuery = z.object({
  score: z
    .string()
    .transform((text) => (text === 'true' ? 1 : text === 'false' ? 0 : Number(text)))
    .pipe(z.number().min(-MAX_SCORE).max(MAX_SCORE))
    .optional(),
  value: z.string().optional(),
  comment: z.string().optional(),
  correction: z.string().optional(),
});

export const listFeedbackSchema = z.object({
  run: queryList(z.guid()),
  session: queryList(z.guid()),
  key: queryList(z.string()),
  source: queryList(z.string()),
  has_score: queryBoolean.optional(),
  has_comment: queryBoolean.optional(),
  level: z.enum(['run', 'session']).optional(),
  min_created_at: instantSchema.optional(),
  max_created_at: instantSchema.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(100),
  offset: z.coerce.number().int().min(0).default(0),
});
export type ListFeedback = z.output<typeof listFeedbackSchema>;
