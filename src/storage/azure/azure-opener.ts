import { CredentialsRequired } from '../credentials-required';
import type { EndpointPolicy } from '../endpoint-policy';
import { HttpTransport } from '../http-transport';
import type { ObjectStore } from '../object-store';
import type { PatienceSettings } from '../patience';
import { authorizeAzure } from './azure-authorization';
import { AzureObjectStore } from './azure-object-store';
import type { AzureCredentials, AzureLocation } from './azure-schemas';

/** Address of an account, without a slash at its end. */
export function azureOrigin(account: string): string {
  return `https://${account}.blob.core.windows.net`;
}

/** Opens containers of Azure Blob Storage. None is opened with this process's own identity. */
export class AzureOpener {
  constructor(private readonly endpoints: EndpointPolicy) {}

  /**
   * @throws {EndpointRefused} when the endpoint's address is not one to connect to.
   * @throws {CredentialsRequired}
   */
  open(location: AzureLocation, credentials: AzureCredentials | undefined, patience: PatienceSettings): ObjectStore {
    const { account_name: account, container_name: container } = location;
    const endpoint = location.endpoint_url ? new URL(location.endpoint_url) : undefined;
    if (endpoint) this.endpoints.checkAddress(endpoint);
    if (!credentials) throw new CredentialsRequired();
    const transport = new HttpTransport(patience, endpoint && this.endpoints.lookupFor(endpoint));
    const root = endpoint ? endpoint.href.replace(/\/$/, '') : azureOrigin(account);
    return new AzureObjectStore(
      transport,
      patience,
      (request) => authorizeAzure(account, credentials, request),
      `${root}/${container}`,
    );
  }
}
