import { createHash } from 'node:crypto';
import { Instant } from '../instant';

/**
 * The parts of a run that are merged one by one. Each is a register whose value has a rank: the higher rank wins, in
 * whatever order operations arrive, so replays and reordering end in the same row.
 */
export const RUN_FIELDS = [
  'name',
  'run_type',
  'start_time',
  'end_time',
  'trace_id',
  'parent_run_id',
  'dotted_order',
  'project',
  'error',
  'inputs',
  'outputs',
  'extra',
  'events',
  'serialized',
  'tags',
  'reference_example_id',
  'usage',
  'first_token_time',
] as const;
export type RunField = (typeof RUN_FIELDS)[number];

export interface FieldValue {
  /** The value as stored: text, JSON text, an instant or an id. */
  value: string;
  rank: string;
  /** Parts of `extra` that are stored in other columns. Runs stored by earlier releases lack it. */
  columns?: ExtraColumns;
}

export interface ExtraColumns {
  /** JSON as jsonb takes it. */
  metadata?: string;
  thread_id?: string;
}

/** Merged content of one or several operations on a run. */
export type RunChange = Partial<Record<RunField, FieldValue>>;

/** Characters that a change keeps in memory and brings to the database, about. */
export function weightOf(change: RunChange): number {
  let weight = 0;
  for (const { value, columns } of Object.values(change)) weight += value.length + (columns?.metadata?.length ?? 0);
  return weight;
}

export type OperationKind = 'post' | 'patch';

/** Rank below every other: a stand-in that a column needs, or a start time read off an id. Any real value replaces it. */
export const DERIVED_RANK = '';
/** A position that was worked out from the post's own start time, for clients that send no dotted_order. */
export const COMPUTED_RANK = '+';
const EMPTY_RANK = '0';
/** An `extra` with nothing but what clients add to every operation: more than an empty one, and below every value. */
export const CLIENT_RANK = '0+';
/** Rank of nearly every field of a post, which is not stored. */
export const POST_RANK = '1';
const PATCH = '2';
/** Patches without end_time: '!' sorts before any digit, and '~' after. */
const UNTIMED = `${PATCH}!`;

/** Where and under what a run stands is said by its post; a patch only repeats it, or says it first. */
const IDENTITY: ReadonlySet<RunField> = new Set(['start_time', 'trace_id', 'parent_run_id', 'dotted_order', 'project']);

/**
 * The rank of a value:
 * - an empty object or list is below every value, so it fills a gap and never overwrites;
 * - a patch is above a post, and among equals the operation with the newer end_time wins;
 * - two patches with equal end_time: the longer value, then the greater hash. That is arbitrary, and the same everywhere;
 * - a patch without end_time is below each one that has it, and among these the one that was received last wins; see
 *   `afterEnd` for those that arrive after the end of the run;
 * - two posts that differ: the first one stays (a client that repeats a post by mistake destroys nothing);
 * - for end_time itself the newest wins, for identity the post; between patches that differ about it, any, but the same one.
 */
export function rankOf(
  field: RunField,
  value: string,
  kind: OperationKind,
  endTime: Instant | undefined,
  receivedAt: Instant,
): string {
  if (field === 'end_time') return value;
  if (IDENTITY.has(field)) return kind === 'post' ? POST_RANK : EMPTY_RANK + short(value);
  if (value === '{}') return EMPTY_RANK;
  if (value === '[]') return EMPTY_RANK + EMPTY_RANK;
  if (kind === 'post') return POST_RANK + (endTime ?? '');
  const time = endTime === undefined ? `${UNTIMED}${receivedAt}` : `${PATCH}${endTime}`;
  return `${time}!${String(value.length).padStart(10, '0')}${hashOf(value)}`;
}

/**
 * The rank of a value that arrives after the end of its run. One of a patch without end_time corrects what the end has said, so
 * it counts as of the time of its receipt, and at least as of that end: a client's clock may be ahead. This alone depends on the
 * order of arrival, and on repetitions.
 */
function afterEnd(rank: string, endTime: string | undefined): string {
  if (endTime === undefined || !rank.startsWith(UNTIMED)) return rank;
  const rest = rank.slice(UNTIMED.length);
  const receivedAt = rest.slice(0, endTime.length);
  return `${PATCH}${receivedAt > endTime ? receivedAt : endTime}~${rest}`;
}

/** A value that arrives where there is one, or none, of this rank: with its rank there if it wins, otherwise undefined. */
export function winner(
  next: FieldValue | undefined,
  presentRank: string | undefined,
  presentEnd: string | undefined,
): FieldValue | undefined {
  if (!next) return undefined;
  const rank = afterEnd(next.rank, presentEnd);
  if (presentRank !== undefined && rank <= presentRank) return undefined;
  return rank === next.rank ? next : { ...next, rank };
}

const hashOf = (value: string): string => createHash('sha1').update(value).digest('base64url').slice(0, 8);
/** Times and ids are short enough to be ranks themselves, and cost no hash. */
const short = (value: string): string => (value.length <= 40 ? value : hashOf(value));

/** Merges an operation that was received later. For equal ranks, the earlier one is kept. */
export function mergeChange(into: RunChange, from: RunChange): void {
  const end = into.end_time?.value;
  for (const field of RUN_FIELDS) {
    const won = winner(from[field], into[field]?.rank, end);
    if (won) into[field] = won;
  }
}

/** The ranks of a stored row's fields. */
export type Ranks = Partial<Record<RunField, string>>;

/** Ranks as stored: null if all are those of a plain post, so that most rows store none. */
export function encodeRanks(ranks: Ranks): string | null {
  const other = RUN_FIELDS.filter(
    (field) => field !== 'end_time' && ranks[field] !== undefined && ranks[field] !== POST_RANK,
  ).map((field) => [field, ranks[field]]);
  return other.length === 0 ? null : JSON.stringify(Object.fromEntries(other));
}

export function decodeRanks(encoded: string | null, present: Iterable<RunField>, endTime: Instant | null): Ranks {
  const other = encoded === null ? {} : (JSON.parse(encoded) as Ranks);
  const ranks: Ranks = {};
  for (const field of present) ranks[field] = field === 'end_time' ? (endTime ?? '') : (other[field] ?? POST_RANK);
  return ranks;
}
