import { queryOptions } from '@tanstack/react-query';
import { getJson, getPage, sendJson } from '../../api/json';

const EXPORTS = '/api/v1/bulk-exports';
const DESTINATIONS = `${EXPORTS}/destinations`;
const PAGE_SIZE = 100;

export interface ExportProgress {
  partitions_total: number;
  partitions_done: number;
  partitions_running: number;
  partitions_stalled: number;
  is_stalled: boolean;
  heartbeat_at: string | null;
  rows_per_second: number | null;
  bytes_per_second: number | null;
  seconds_left: number | null;
  rows_total: number;
  rows_written: number;
  bytes_written: number;
}

export interface BulkExport {
  id: string;
  bulk_export_destination_id: string;
  session_id: string | null;
  all_experiments: boolean;
  start_time: string;
  end_time: string | null;
  filter: string | null;
  format_version: string;
  compression: string;
  export_fields: string[] | null;
  interval_hours: number | null;
  late_data: string;
  status: string;
  error: string | null;
  error_code: string | null;
  error_hint: string | null;
  source_bulk_export_id: string | null;
  created_at: string;
  finished_at: string | null;
  verified_at: string | null;
  progress: ExportProgress;
}

/** A partition of an export: one UTC day. */
export interface ExportRun {
  id: string;
  status: string;
  retry_number: number;
  errors: Record<string, string> | null;
  error_hint: string | null;
  is_stalled: boolean;
  rows_written: number;
  start_time: string;
  end_time: string;
  finished_at: string | null;
  metadata: {
    result: {
      rows_total: number;
      rows_written: number;
      bytes_written: number;
      exported_files: string[];
      export_url: string;
      verified: boolean | null;
    };
  };
}

export interface Destination {
  id: string;
  destination_type: 's3' | 'gcs' | 'azure_blob';
  display_name: string;
  config: Record<string, unknown> & { prefix: string };
  credentials_keys: string[];
  created_at: string;
}

export interface Verification {
  verified: boolean;
  checksums: boolean;
  files: number;
  rows: number;
  bytes: number;
  problems: { path: string; problem: string }[];
}

export const OPEN_STATUSES = ['Created', 'Running', 'IntervalScheduled'];
export const isOpen = ({ status }: { status: string }): boolean => OPEN_STATUSES.includes(status);

export const listExports = (query: { status?: string; source_bulk_export_id?: string }, offset: number) =>
  getPage<BulkExport>(EXPORTS, { ...query, limit: PAGE_SIZE, offset });
export const listExportRuns = (id: string, offset: number) =>
  getPage<ExportRun>(`${EXPORTS}/${id}/runs`, { limit: PAGE_SIZE, offset });
export const createExport = (body: object) => sendJson<BulkExport>('POST', EXPORTS, body);
export const cancelExport = (id: string) => sendJson('PATCH', `${EXPORTS}/${id}`, { status: 'Cancelled' });
export const retryExport = (id: string) => sendJson('POST', `${EXPORTS}/${id}/retry`);
export const retryExportRun = (id: string, runId: string) => sendJson('POST', `${EXPORTS}/${id}/runs/${runId}/retry`);
export const verifyExport = (id: string, checksums: boolean) =>
  sendJson<Verification>('POST', `${EXPORTS}/${id}/verify`, { checksums });
export const createDestination = (body: object) => sendJson<Destination>('POST', DESTINATIONS, body);
export const deleteDestination = (id: string) => sendJson('DELETE', `${DESTINATIONS}/${id}`);

export const exportQuery = (id: string) =>
  queryOptions({
    queryKey: ['exports', id],
    queryFn: () => getJson<BulkExport>(`${EXPORTS}/${id}`),
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? 1_500 : false),
  });

export const destinationsQuery = queryOptions({
  queryKey: ['destinations'],
  queryFn: () => getJson<Destination[]>(DESTINATIONS),
});

/** Where a destination is, as people write it. */
export function placeOf({ destination_type: type, config }: Destination): string {
  const { bucket_name: bucket, container_name: container, prefix } = config as Record<string, string | undefined>;
  const scheme = { s3: 's3', gcs: 'gs', azure_blob: 'az' }[type];
  return `${scheme}://${[bucket ?? container, prefix].filter(Boolean).join('/')}`;
}
