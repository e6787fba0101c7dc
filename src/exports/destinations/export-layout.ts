import type { DestinationConfig } from './destinations.schemas';

/** Folder of destinations that were created before it could be chosen. */
const DEFAULT_RUNS_FOLDER = 'runs';

export interface ExportIdentity {
  exportId: string;
  tenantId: string;
  sessionId: string;
}

/** The key of something under a destination's prefix. */
export function destinationKey(config: DestinationConfig, ...segments: string[]): string {
  const { bucket_name: bucket, prefix, include_bucket_in_prefix: withBucket } = config;
  return [...(withBucket ? [bucket] : []), ...(prefix ? [prefix] : []), ...segments].join('/');
}

/** How the API names an object: bucket first, no scheme. */
export function objectPath(config: DestinationConfig, key: string): string {
  return `${config.bucket_name}/${key}`;
}

/** The address of an object: from outside, where the destination has an address for that. */
export function objectUrl(config: DestinationConfig, key: string): string {
  const { bucket_name: bucket, region, external_endpoint_url: external, endpoint_url: inside } = config;
  const endpoint = external ?? inside;
  const root = endpoint
    ? new URL(bucket, endpoint).href
    : `https://${bucket}.s3.${region ?? 'us-east-1'}.amazonaws.com`;
  return `${root}/${encodeURI(key)}`;
}

/** Everything of an export is under this key. */
export function exportFolder(config: DestinationConfig, exportId: string): string {
  return destinationKey(config, `export_id=${exportId}`);
}

/**
 * The folder of a day. The numbers have no leading zeros: with them some readers take the values of a partition for text.
 */
export function dayFolder(
  config: DestinationConfig,
  { exportId, tenantId, sessionId }: ExportIdentity,
  day: string,
): string {
  const [year, month, date] = day.split('-').map(Number);
  return [
    exportFolder(config, exportId),
    `tenant_id=${tenantId}`,
    `session_id=${sessionId}`,
    config.runs_folder ?? DEFAULT_RUNS_FOLDER,
    `year=${year}`,
    `month=${month}`,
    `day=${date}`,
  ].join('/');
}

/** The name of a part's file: the same for every attempt. The day is in it for those who copy files elsewhere. */
export function partName(day: string, part: number): string {
  return `${day}-part-${String(part).padStart(5, '0')}.parquet`;
}
