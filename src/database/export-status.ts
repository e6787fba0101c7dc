/** Values of the column `bulk_exports.status`. */
export const EXPORT_STATUSES = [
  'Created',
  'IntervalScheduled',
  'Running',
  'Completed',
  'Failed',
  'Cancelled',
  'TimedOut',
] as const;
export type ExportStatus = (typeof EXPORT_STATUSES)[number];
/** Values of the column `bulk_export_runs.status`. */
export type PartitionStatus = Exclude<ExportStatus, 'IntervalScheduled'>;
export const PARTITION_STATUSES = EXPORT_STATUSES.filter(
  (status): status is PartitionStatus => status !== 'IntervalScheduled',
);

/** Statuses of an export that has not ended. */
const OPEN_STATUSES = ['Created', 'IntervalScheduled', 'Running'] as const satisfies ExportStatus[];
export type OpenExportStatus = (typeof OPEN_STATUSES)[number];

const sqlList = (statuses: readonly ExportStatus[]): string => statuses.map((status) => `'${status}'`).join(', ');

/** Condition in SQL for exports that have not ended; `alias` names the table `bulk_exports`. */
export function openExportSql(alias?: string): string {
  return `${alias === undefined ? '' : `${alias}.`}status IN (${sqlList(OPEN_STATUSES)})`;
}

/** Condition in SQL for partitions that have not ended; `alias` names the table `bulk_export_runs`. */
export function openPartitionSql(alias?: string): string {
  return `${alias === undefined ? '' : `${alias}.`}status IN (${sqlList(['Created', 'Running'])})`;
}

/** Whether an export with this status has not ended. */
export function isOpenExport(status: ExportStatus): status is OpenExportStatus {
  return OPEN_STATUSES.some((each) => each === status);
}
