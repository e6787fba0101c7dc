import { azureOrigin } from '../../storage/azure/azure-opener';
import { GCS_ORIGIN } from '../../storage/gcs/gcs-opener';
import type { DestinationPlace } from './destinations.schemas';

/** Folder of destinations that were created before it could be chosen. */
const DEFAULT_RUNS_FOLDER = 'runs';

export interface ExportIdentity {
  exportId: string;
  tenantId: string;
  sessionId: string;
}

/** Name of the bucket, or of what the store calls one. */
function bucketOf(place: DestinationPlace): string {
  return place.type === 'azure_blob' ? place.container_name : place.bucket_name;
}

/** The key of an object under a destination's prefix. */
export function destinationKey(place: DestinationPlace, ...segments: string[]): string {
  const { prefix, include_bucket_in_prefix: withBucket } = place;
  return [...(withBucket ? [bucketOf(place)] : []), ...(prefix ? [prefix] : []), ...segments].join('/');
}

/** How the API names an object: bucket first, no scheme. */
export function objectPath(place: DestinationPlace, key: string): string {
  return `${bucketOf(place)}/${key}`;
}

/** The URL of an object, with the external endpoint if the destination has one. */
export function objectUrl(place: DestinationPlace, key: string): string {
  const endpoint = place.external_endpoint_url ?? place.endpoint_url;
  const bucket = bucketOf(place);
  const root = endpoint ? `${endpoint.replace(/\/$/, '')}/${bucket}` : ownUrl(place, bucket);
  return `${root}/${encodeURI(key)}`;
}

/** The address of a bucket at the provider itself. */
function ownUrl(place: DestinationPlace, bucket: string): string {
  if (place.type === 's3') return `https://${bucket}.s3.${place.region ?? 'us-east-1'}.amazonaws.com`;
  return `${place.type === 'gcs' ? GCS_ORIGIN : azureOrigin(place.account_name)}/${bucket}`;
}

/** Prefix of all objects of an export. */
export function exportFolder(place: DestinationPlace, exportId: string): string {
  return destinationKey(place, `export_id=${exportId}`);
}

/**
 * The folder of a day. The numbers have no leading zeros, with which some readers treat the partition's values as text.
 */
export function dayFolder(
  place: DestinationPlace,
  { exportId, tenantId, sessionId }: ExportIdentity,
  day: string,
): string {
  const [year, month, date] = day.split('-').map(Number);
  return [
    exportFolder(place, exportId),
    `tenant_id=${tenantId}`,
    `session_id=${sessionId}`,
    place.runs_folder ?? DEFAULT_RUNS_FOLDER,
    `year=${year}`,
    `month=${month}`,
    `day=${date}`,
  ].join('/');
}

/** The name of a part's file: the same for every attempt. It contains the day for users who copy files elsewhere. */
export function partName(day: string, part: number): string {
  return `${day}-part-${String(part).padStart(5, '0')}.parquet`;
}

/** The key of a part's file. */
export function partKey(place: DestinationPlace, identity: ExportIdentity, day: string, part: number): string {
  return `${dayFolder(place, identity, day)}/${partName(day, part)}`;
}
