import type { FilterExpression } from '../filter/filter-ast';
import { FilterError } from '../filter/filter-error';
import { parseFilter } from '../filter/filter-parser';
import { SearchBudget } from '../filter/search-budget';
import { Instant, instantOf, isInstant } from '../instant';
import { traceErrors } from '../trace.errors';
import { RunSelection } from './run-selection';
import type { RunFilter, ValidateQuery } from './trace-query.schemas';
import { isV2Field } from './trace-run.mapper';
import type { RunCursor } from './trace-runs.repository';

const DAY_MS = 86_400_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws {ApiError} 422 for an invalid filter, with the position, and for a query without conditions */
export function toSelection(body: RunFilter): RunSelection {
  if (body.id) return { ids: body.id };
  if (!body.session && !body.trace && !body.parent_run && !body.reference_example) {
    throw traceErrors.invalid('session', 'name at least one of session, id, trace, parent_run, reference_example');
  }
  const budget = new SearchBudget();
  const filters = readFilters(body, budget);
  const searches = (['query', 'search_filter'] as const).flatMap((field): FilterExpression[] => {
    const text = body[field];
    if (text === undefined) return [];
    refuseAs(field, () => budget.search(text, 0));
    return [{ kind: 'search', text }];
  });
  const conditions = [...(filters.filter ? [filters.filter] : []), ...searches];
  return {
    ...filters,
    ...(body.session && { projectIds: body.session }),
    ...(body.trace && { traceId: body.trace }),
    ...(body.parent_run && { parentRunId: body.parent_run }),
    ...(body.run_type && { runType: body.run_type }),
    ...(body.reference_example && { referenceExampleIds: body.reference_example }),
    ...(body.start_time && { from: body.start_time }),
    ...(body.end_time && { to: body.end_time }),
    ...(body.error !== undefined && { hasError: body.error }),
    ...((body.is_root ?? body.execution_order) !== undefined && { isRoot: body.is_root ?? true }),
    ...(conditions.length > 0 && { filter: { kind: 'and', operands: conditions } }),
  };
}

export function readFilters(
  body: ValidateQuery,
  budget = new SearchBudget(),
): Pick<RunSelection, 'filter' | 'traceFilter' | 'treeFilter'> {
  const read = (field: keyof ValidateQuery): FilterExpression | undefined => {
    const text = body[field];
    if (text === undefined || text.trim() === '') return undefined;
    return refuseAs(field, () => parseFilter(text, budget));
  };
  const [filter, traceFilter, treeFilter] = [read('filter'), read('trace_filter'), read('tree_filter')];
  return { ...(filter && { filter }), ...(traceFilter && { traceFilter }), ...(treeFilter && { treeFilter }) };
}

/**
 * A filter on the root runs of traces, if root runs are selected.
 * @param field of the request, for errors
 */
export function readRootFilter(text: string, field = 'trace_filter'): Pick<RunSelection, 'filter'> {
  return text.trim() === '' ? {} : { filter: refuseAs(field, () => parseFilter(text)) };
}

/** @throws {ApiError} 422 that names the field of an invalid filter */
function refuseAs<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof FilterError) throw traceErrors.invalid(field, error.message);
    throw error;
  }
}

/** @throws {ApiError} 422 that names a field which the second version doesn't have */
export function checkSelects(selects: string[]): void {
  const unknown = selects.find((name) => !isV2Field(name));
  if (unknown !== undefined) throw traceErrors.invalid('selects', `unknown field ${unknown.toUpperCase()}`);
}

/** Cursor for clients: the place after which the next page begins. */
export function writeCursor({ startTime, runId }: RunCursor): string {
  return Buffer.from(`${startTime} ${runId}`).toString('base64url');
}

/** @throws {ApiError} 422 */
export function readCursor(cursor: string): RunCursor {
  const [startTime = '', runId = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  if (!isInstant(startTime) || !UUID.test(runId)) {
    throw traceErrors.invalid('cursor', 'this is not a cursor of a previous page');
  }
  return { startTime, runId };
}

/** Default window of queries of the second version: the last day. */
export const dayAgo = (): Instant => instantOf(new Date(Date.now() - DAY_MS));

/** @throws {ApiError} 422 for a window on the time of feedback, which is not supported */
export function refuseFeedbackWindow(body: {
  min_feedback_modified_at?: Instant;
  max_feedback_modified_at?: Instant;
}): void {
  for (const field of ['min_feedback_modified_at', 'max_feedback_modified_at'] as const) {
    if (body[field]) throw traceErrors.unsupported(field, 'filters on feedback cover all of its history here');
  }
}
