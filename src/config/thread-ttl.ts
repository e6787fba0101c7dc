import { z } from 'zod';

/**
 * `delete`: the thread with everything of it. `keep_latest`: data that later runs don't need, so that the thread can continue.
 */
export const TTL_STRATEGIES = ['delete', 'keep_latest'] as const;
export const ttlStrategySchema = z.enum(TTL_STRATEGIES);
export type TtlStrategy = z.infer<typeof ttlStrategySchema>;

/** Time to live of a thread, and the action after it. */
export interface ThreadTtl {
  strategy: TtlStrategy;
  minutes: number;
}

/** A hundred years: beyond it times can't be counted with. */
const MAX_MINUTES = 52_560_000;

export const ttlMinutesSchema = z.number().positive().max(MAX_MINUTES);

/** The `ttl` of a thread as clients give it. */
export const threadTtlSchema = z
  .object({ ttl: ttlMinutesSchema, strategy: ttlStrategySchema.default('delete') })
  .transform(({ ttl, strategy }): ThreadTtl => ({ strategy, minutes: ttl }));

/** `checkpointer.ttl` of langgraph.json. */
export const checkpointerTtlSchema = z
  .looseObject({
    strategy: ttlStrategySchema.default('delete'),
    default_ttl: ttlMinutesSchema.nullish(),
    sweep_interval_minutes: z.number().positive().max(525_600).nullish(),
    sweep_limit: z.number().int().positive().nullish(),
  })
  .transform((section): ThreadTtlSettings => ({
    ...(section.default_ttl != null && { default: { strategy: section.strategy, minutes: section.default_ttl } }),
    sweepIntervalMinutes: section.sweep_interval_minutes ?? 5,
    sweepLimit: section.sweep_limit ?? 10_000,
  }));

export interface ThreadTtlSettings {
  /** Time to live of threads that are created without one. Absent: they are kept. */
  default?: ThreadTtl;
  /** Minutes from one search for expired threads to the next. */
  sweepIntervalMinutes: number;
  /** Threads that one search deals with at most. */
  sweepLimit: number;
}
