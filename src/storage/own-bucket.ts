import type { ObjectStoreSettings } from '../config/settings/traces';
import type { ObjectStore } from './object-store';
import type { PatienceSettings } from './patience';
import { connectS3 } from './s3/s3-client';
import { S3ObjectStore } from './s3/s3-object-store';

/** Opens the bucket that the operator gave the deployment (GANTRY_S3_BUCKET). The caller closes it. */
export function openOwnBucket(
  { endpoint, region, credentials, bucket }: ObjectStoreSettings,
  patience: PatienceSettings,
): ObjectStore {
  const client = connectS3({
    region,
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials && { credentials }),
    forcePathStyle: endpoint !== undefined,
    maxSockets: 50,
    patience,
  });
  return new S3ObjectStore(client, { bucket_name: bucket });
}
