import { z } from 'zod';
import { Instant, toInstant } from './instant';

/** Query strings spell booleans as their language does: `True`, `true`, `1`. */
export const queryBoolean = z
  .string()
  .transform((value) => value.toLowerCase())
  .pipe(z.enum(['true', 'false', '1', '0']))
  .transform((value) => value === 'true' || value === '1');

/** A parameter that may be repeated. */
export const queryList = <Item extends z.ZodType>(item: Item) =>
  z.preprocess((value) => (value === undefined || Array.isArray(value) ? value : [value]), z.array(item).optional());

/** Any spelling of a moment that trace clients use. */
export const instantSchema = z.union([z.string(), z.number()]).transform((value, context): Instant => {
  const instant = toInstant(value);
  if (instant) return instant;
  context.addIssue({ code: 'custom', message: 'must be an ISO 8601 timestamp' });
  return z.NEVER;
});

/** A moment as v1 of this API writes it: UTC without a time zone. */
export const naive = (instant: Instant): string => instant.slice(0, -1);

/** SQL that reads a timestamptz as an Instant: the driver would make a Date of it, and cut the microseconds. */
export const selectInstant = (expression: string): string =>
  `to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
