/** Partitions have slots of their own: each holds a part in memory, and the short steps of exports must not wait for them. */
export const EXPORT_PARTITIONS_QUEUE = 'gantry-export-partitions';

export const exportWorkflowId = (exportId: string): string => `export-${exportId}`;
/** `day` is the UTC day of the partition, `2026-11-21`; of an export of all experiments with the project after it. */
export const exportPartitionWorkflowId = (exportId: string, day: string): string => `export-${exportId}-${day}`;

/** Ends an export (or a schedule) as Cancelled. Safe to repeat. */
export const CANCEL_EXPORT_SIGNAL = 'cancelExport';
/** Informs a waiting export that another one ended: it may be its turn. Only a hint, since the export also asks by itself. */
export const EXPORT_TURN_SIGNAL = 'exportTurn';
export const EXPORT_PROGRESS_QUERY = 'exportProgress';

export interface ExportReference {
  exportId: string;
  tenantId: string;
}

export interface ExportWorkflowInput extends ExportReference {
  /** Partitions of this export that are written at the same time. */
  partitionConcurrency: number;
  /** A worker that is silent for this long has lost the partition. */
  heartbeatTimeoutMs: number;
  /** The longest that an export may run, for those that a schedule spawns. */
  timeoutMs: number;
}

/** How an export ended. `Gone`: its row had an end already, or there is none. */
export type ExportEnding = 'Completed' | 'Failed' | 'Cancelled' | 'TimedOut' | 'Gone';

export interface ExportWorkflowResult {
  ending: ExportEnding;
}

export interface ExportProgressAnswer {
  phase: 'waiting' | 'planning' | 'exporting' | 'finishing';
  partitionsTotal: number;
  partitionsDone: number;
  rows: number;
  bytes: number;
  rowsTotal?: number;
  rowsPerSecond?: number | null;
  secondsLeft?: number | null;
  partitionsStalled?: number;
}

/** Where an export is, with what it takes to say when it will be done. */
export interface ExportStanding {
  partitionsTotal: number;
  partitionsDone: number;
  partitionsStalled: number;
  rows: number;
  rowsTotal: number;
  bytes: number;
  /** Null when it is unknown. */
  rowsPerSecond: number | null;
  secondsLeft: number | null;
}

export interface PartitionReference extends ExportReference {
  exportRunId: string;
  day: string;
}

export interface PartitionWorkflowInput extends PartitionReference {
  heartbeatTimeoutMs: number;
}

export interface PartitionResult {
  ending: 'Completed' | 'Failed';
  rows: number;
  bytes: number;
  files: number;
}

/** `taken`: the export runs, and has this long left. `wait`: others are first. `over`: it has ended. */
export type Turn = { turn: 'taken'; remainingMs: number } | { turn: 'wait' } | { turn: 'over' };

export interface ExportPlan {
  partitionsTotal: number;
  partitionsDone: number;
  rows: number;
  bytes: number;
  /** The next partitions that aren't done, in order of days; none when all are. */
  open: PartitionReference[];
}

export interface EndExportInput extends ExportReference {
  ending: 'Failed' | 'Cancelled' | 'TimedOut';
  message?: string;
}

export interface EndExportResult {
  /** Exports of the tenant that wait and may begin now. */
  waiting: string[];
}

export interface CompleteExportResult extends EndExportResult {
  /** False when the export was cancelled before it could be published. */
  isCompleted: boolean;
}

export interface EndPartitionInput extends PartitionReference {
  message: string;
}

/** A window of a schedule; instants are ISO 8601. */
export interface ExportWindow {
  start: string;
  end: string;
  /** The window was exported before, and this is the export that did it: what is late is exported now. */
  latePassOf?: string;
}

/** `due`: the window can be exported in this long. `over`: the schedule has ended. */
export type NextWindow = { next: 'due'; window: ExportWindow; inMs: number } | { next: 'over' };

export interface SpawnExportInput extends ExportReference {
  window: ExportWindow;
}

export interface ExportActivities {
  takeTurn(input: ExportReference): Promise<Turn>;
  /** Makes a partition of each UTC day of the window, once. */
  planExport(input: ExportReference): Promise<ExportPlan>;
  /** Where the export is, files of unfinished partitions included; null when it is over. */
  readProgress(input: ExportReference): Promise<ExportStanding | null>;
  /** Writes what is left of a partition. Heartbeats. */
  exportPartition(input: PartitionReference): Promise<PartitionResult>;
  /** Ends a partition that no attempt could complete. */
  failPartition(input: EndPartitionInput): Promise<void>;
  /** Verifies all partitions, writes the manifest and `_SUCCESS`, ends the export as Completed. */
  completeExport(input: ExportReference): Promise<CompleteExportResult>;
  endExport(input: EndExportInput): Promise<EndExportResult>;
  nextExportWindow(input: ExportReference): Promise<NextWindow>;
  /** Makes the export of a window, once, and resolves to its id; null when the schedule has ended. */
  spawnExport(input: SpawnExportInput): Promise<{ exportId: string | null }>;
}
