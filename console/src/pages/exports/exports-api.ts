import { queryOptions } from '@tanstack/react-query';
import type { Schemas } from '../../api/info';
import type { Call } from '../../ui/api-call';
import { getJson, getPage, sendJson } from '../../api/json';

const EXPORTS = '/api/v1/bulk-exports';
const DESTINATIONS = `${EXPORTS}/destinations`;
const PAGE_SIZE = 100;

export type BulkExport = Schemas['BulkExport'];
/** A partition of an export: one UTC day. */
export type ExportRun = Schemas['BulkExportRun'];
export type Destination = Schemas['BulkExportDestination'];
export type DestinationTest = Schemas['BulkExportDestinationTest'];
export type ExportPreview = Schemas['BulkExportPreview'];
export type Verification = Schemas['BulkExportVerification'];
export type ExportManifest = Schemas['BulkExportManifest'];

export const OPEN_STATUSES = ['Created', 'Running', 'IntervalScheduled'];
export const isOpen = ({ status }: { status: string }): boolean => OPEN_STATUSES.includes(status);

/** Interval in milliseconds for `refetchInterval` of an export or a day of it, until it has ended. */
const whileOpen = ({ state: { data } }: { state: { data?: { status: string } | undefined } }): number | false =>
  data && isOpen(data) ? 1_500 : false;

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

export const destinationTestCall = (id: string): Call => ({ method: 'POST', path: `${DESTINATIONS}/${id}/test` });
export const testDestination = (id: string) => sendJson<DestinationTest>('POST', destinationTestCall(id).path);

export const exportRunQuery = (id: string, runId: string) =>
  queryOptions({
    queryKey: ['exports', id, 'runs', runId],
    queryFn: () => getJson<ExportRun>(`${EXPORTS}/${id}/runs/${runId}`),
    refetchInterval: whileOpen,
  });

export const previewCall = (id: string, runId: string, file: string): Call => ({
  method: 'GET',
  path: `${EXPORTS}/${id}/runs/${runId}/preview?${new URLSearchParams({ file }).toString()}`,
});
export const previewFile = (id: string, runId: string, file: string) =>
  getJson<ExportPreview>(previewCall(id, runId, file).path);

export const exportQuery = (id: string) =>
  queryOptions({
    queryKey: ['exports', id],
    queryFn: () => getJson<BulkExport>(`${EXPORTS}/${id}`),
    refetchInterval: whileOpen,
  });

/** A window of a schedule is exported so long after its end. */
const SPAWN_DELAY_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;

export interface NextWindow {
  start: Date;
  end: Date;
  /** When its export starts. */
  due: Date;
}

/** The next windows of a schedule, from the one that is not over on. Earlier ones are exports already. */
export function nextWindows({ start_time: first, interval_hours: hours }: BulkExport, count: number): NextWindow[] {
  if (hours === null) return [];
  const length = hours * HOUR_MS;
  const begin = Date.parse(first);
  const passed = Math.max(Math.floor((Date.now() - SPAWN_DELAY_MS - begin) / length), 0);
  return Array.from({ length: count }, (_, index) => {
    const start = begin + (passed + index) * length;
    return {
      start: new Date(start),
      end: new Date(start + length),
      due: new Date(start + length + SPAWN_DELAY_MS),
    };
  });
}

export const manifestQuery = (id: string) =>
  queryOptions({
    queryKey: ['exports', id, 'manifest'],
    queryFn: () => getJson<ExportManifest>(`${EXPORTS}/${id}/manifest`),
    staleTime: Infinity,
  });

export const destinationsQuery = queryOptions({
  queryKey: ['destinations'],
  queryFn: () => getJson<Destination[]>(DESTINATIONS),
});

/** Location of a destination as a URL, such as `s3://bucket/prefix`. */
export function placeOf({ destination_type: type, config }: Destination): string {
  const {
    bucket_name: bucket,
    container_name: container,
    prefix,
  } = config as {
    bucket_name?: string;
    container_name?: string;
    prefix: string;
  };
  const scheme = { s3: 's3', gcs: 'gs', azure_blob: 'az' }[type];
  return `${scheme}://${[bucket ?? container, prefix].filter(Boolean).join('/')}`;
}
