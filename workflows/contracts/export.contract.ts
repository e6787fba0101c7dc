export const exportWorkflowId = (exportId: string): string => `export-${exportId}`;
/** `day` is the UTC day of the partition, `2026-11-21`. */
export const exportPartitionWorkflowId = (exportId: string, day: string): string => `export-${exportId}-${day}`;

export interface ExportWorkflowInput {
  exportId: string;
  tenantId: string;
}
