/** The place of a row in the order of an export. The instant is ISO text with its microseconds. */
export interface RowKey {
  startTime: string;
  runId: string;
}
