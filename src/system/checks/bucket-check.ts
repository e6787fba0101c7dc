import { v7 as uuidv7 } from 'uuid';
import type { ObjectStoreSettings } from '../../config/settings/traces';
import { contentOf, type ObjectStore, readText } from '../../storage/object-store';
import { openOwnBucket } from '../../storage/own-bucket';
import { explainStoreError } from '../../storage/store-error';
import { ANSWER_TIMEOUT_MS, type Check, Problem } from './finding';

const CONTENT = 'Gantry wrote this to check the bucket. It may be deleted.\n';
const PATIENCE = { maxAttempts: 1, connectionTimeout: ANSWER_TIMEOUT_MS, answerTimeout: ANSWER_TIMEOUT_MS };
const REMEDY = 'Check GANTRY_S3_ENDPOINT, the bucket, and the permissions of GANTRY_S3_ACCESS_KEY_ID.';

/** The check of the deployment's own bucket: it writes, reads and deletes a small object under `tmp/`. */
export const bucketCheck = (settings: ObjectStoreSettings | undefined): Check => ({
  name: 's3',
  look: () => checkBucket(settings),
  remedy: REMEDY,
});

async function checkBucket(settings: ObjectStoreSettings | undefined): Promise<string> {
  if (!settings) {
    throw new Problem(
      'there is no S3 service: attachments of traces stay in Postgres, and exports go to buckets of their own',
      'Install versitygw or Go and start again, or set GANTRY_S3_ENDPOINT and GANTRY_S3_BUCKET.',
      'warning',
    );
  }
  const { bucket, endpoint } = settings;
  const place = `bucket ${bucket} on ${endpoint === undefined ? 'AWS' : new URL(endpoint).host}`;
  const store = openOwnBucket(settings, PATIENCE);
  const key = `tmp/gantry-check-${uuidv7()}.txt`;
  try {
    await store.put(key, contentOf(Buffer.from(CONTENT)));
    await checkRead(store, key, place);
    const kept = await store.delete([key]);
    if (kept.length > 0) {
      throw new Problem(`${place} keeps what is deleted`, `Grant ${store.permissions.delete}.`, 'warning');
    }
    return `wrote, read and deleted an object in ${place}`;
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { message, code } = explainStoreError(error);
    throw new Problem(`${place}: ${message} (${code})`, REMEDY);
  } finally {
    store.close();
  }
}

async function checkRead(store: ObjectStore, key: string, place: string): Promise<void> {
  const read = await readText(store, key);
  if (read.state === 'found' && read.value === CONTENT) return;
  if (read.state === 'forbidden') throw new Problem(`${place} may not be read`, `Grant ${store.permissions.read}.`);
  throw new Problem(`${place} does not return what was written`, 'What is between Gantry and the bucket?');
}
