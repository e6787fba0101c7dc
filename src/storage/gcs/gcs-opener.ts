import { CredentialsRequired } from '../credentials-required';
import type { EndpointPolicy } from '../endpoint-policy';
import { HttpTransport } from '../http-transport';
import type { ObjectStore } from '../object-store';
import type { PatienceSettings } from '../patience';
import { AmbientCredentialsFailed } from './gcs-errors';
import { Authorize, GcsObjectStore } from './gcs-object-store';
import type { GcsCredentials, GcsLocation } from './gcs-schemas';

export const GCS_ORIGIN = 'https://storage.googleapis.com';
const SCOPES = ['https://www.googleapis.com/auth/devstorage.read_write'];

/** Opens buckets of Google Cloud Storage. */
export class GcsOpener {
  /** @param ambientBuckets buckets that this process's own credentials may write to: those named `gs://…` count */
  constructor(
    private readonly endpoints: EndpointPolicy,
    private readonly ambientBuckets: readonly string[],
  ) {}

  /**
   * @throws {EndpointRefused} when the endpoint's address is not one to connect to.
   * @throws {CredentialsRequired} when there are none, and this process's own are not for this bucket.
   */
  open(location: GcsLocation, credentials: GcsCredentials | undefined, patience: PatienceSettings): ObjectStore {
    const { bucket_name: bucket } = location;
    const endpoint = location.endpoint_url ? new URL(location.endpoint_url) : undefined;
    if (endpoint) this.endpoints.checkAddress(endpoint);
    // A tenant's endpoint would get what the cloud gave this machine: only Google does.
    const mayUseOwn = endpoint === undefined && this.ambientBuckets.includes(`gs://${bucket}`);
    if (!credentials && !mayUseOwn) throw new CredentialsRequired();
    const transport = new HttpTransport(patience, endpoint && this.endpoints.lookupFor(endpoint));
    const authorize = credentials ? authorizeByKey(credentials) : authorizeAmbient();
    return new GcsObjectStore(transport, patience, authorize, endpoint?.origin ?? GCS_ORIGIN, bucket);
  }
}

/**
 * Signs each token itself: no token service is asked, so the address of one that a tenant's key names is never connected to.
 * The library is loaded by the first destination that needs it: it takes 24 MB.
 */
function authorizeByKey({ service_account_key: key }: GcsCredentials): Authorize {
  const client = import('google-auth-library').then(({ JWT }) => {
    const jwt = new JWT({
      email: key.client_email,
      key: key.private_key,
      keyId: key.private_key_id,
      scopes: SCOPES,
    });
    jwt.useJWTAccessWithScope = true;
    return jwt;
  });
  return async () => Object.fromEntries(await (await client).getRequestHeaders());
}

/** Application Default Credentials: environment, workload identity, instance. */
function authorizeAmbient(): Authorize {
  const auth = import('google-auth-library').then(({ GoogleAuth }) => new GoogleAuth({ scopes: SCOPES }));
  return async () => {
    try {
      return Object.fromEntries(await (await auth).getRequestHeaders());
    } catch (error) {
      throw new AmbientCredentialsFailed('The credentials of this process are not usable', { cause: error });
    }
  };
}
