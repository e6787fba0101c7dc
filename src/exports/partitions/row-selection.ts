/** The place of a row in the order of an export. The instant is ISO text with its microseconds. */
export interface RowKey {
  startTime: string;
  runId: string;
}

/** Which rows: those of a project, or of all experiments, in a window, received up to the watermark, that match the filter. */
export interface RowSelection {
  /** Null for all experiments: projects with a dataset. */
  projectId: string | null;
  startTime: string;
  endTime: string;
  watermark: string;
  /** Only rows that arrived or changed after this moment; null for all. */
  changedAfter: string | null;
  filter: string | null;
}

/** The moment up to which the rows of an export were received. */
export interface Watermark {
  at: string;
  /** Whether all transactions that wrote rows before it were over, so that no such row can appear later. */
  isSettled: boolean;
}

/** Number of rows at one moment. */
export interface RowCount {
  /** Rows of the selection. */
  rows: number;
  /** Rows of its window, whatever they contain: without the filter, and changed or not. */
  sourceRows: number;
}

/** Number of rows of a project on one UTC day. */
export interface DayCount extends RowCount {
  sessionId: string;
  day: string;
}

/**
 * The rows of an export's window, or of a partition of it.
 * @param watermark rows that were received later are not selected
 */
export function selectionOf(
  { filter, changedAfter }: Pick<RowSelection, 'filter' | 'changedAfter'>,
  window: { sessionId: string | null; startTime: string; endTime: string | null },
  watermark: string,
): RowSelection {
  if (window.endTime === null) throw new Error('A schedule has no rows of its own');
  const { sessionId, startTime, endTime } = window;
  return { projectId: sessionId, startTime, endTime, watermark, changedAfter, filter };
}
