import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Injectable } from '@nestjs/common';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { fromTemporaryCredentials } from '@aws-sdk/credential-providers';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import type { DestinationConfig, DestinationCredentials } from './destinations/destinations.schemas';
import { AddressPolicy } from '../network/address-policy';
import { CredentialsRequired, RoleNotAllowed, RoleRefused } from './credentials-required';
import { EndpointPolicy } from './endpoint-policy';
import { ObjectStore } from './object-store';
import { explainStoreError, StoreProblem } from './s3-errors';

interface PatienceSettings {
  maxAttempts: number;
  connectionTimeout: number;
  /** Until an answer begins, and between two pieces of it. */
  answerTimeout: number;
}

/** How long a store is waited for: a request needs an answer soon, an export's work can wait. */
export const Patience: Record<'question' | 'work', PatienceSettings> = {
  question: { maxAttempts: 2, connectionTimeout: 5_000, answerTimeout: 15_000 },
  work: { maxAttempts: 4, connectionTimeout: 10_000, answerTimeout: 120_000 },
};

/** Opens stores under the endpoint policy. */
@Injectable()
export class ObjectStores {
  private readonly endpoints: EndpointPolicy;
  /** Buckets that this process's own credentials may write to. */
  private readonly ambientBuckets: ReadonlySet<string>;
  /** Roles that this process's own identity may assume: ARNs, or beginnings that end in `*`. */
  private readonly ambientRoles: readonly string[];
  private readonly stsEndpoint: URL | undefined;

  constructor({ exports: { allowCidrs, ownEndpoint, ambientBuckets, ambientRoles, stsEndpoint } }: AppConfig) {
    this.endpoints = new EndpointPolicy(new AddressPolicy(allowCidrs), ownEndpoint ? new URL(ownEndpoint) : undefined);
    this.ambientBuckets = new Set(ambientBuckets);
    this.ambientRoles = ambientRoles;
    this.stsEndpoint = stsEndpoint ? new URL(stsEndpoint) : undefined;
  }

  /**
   * @throws {EndpointRefused} when the endpoint's address is not one to connect to.
   * @throws {CredentialsRequired} when there are none, and this process's own are not for this bucket.
   * @throws {RoleNotAllowed} when the role is not one that this process's own identity may assume.
   */
  open(
    tenantId: TenantId,
    destination: DestinationConfig,
    credentials: DestinationCredentials | undefined,
    patience: PatienceSettings,
  ): ObjectStore {
    const endpoint = destination.endpoint_url ? new URL(destination.endpoint_url) : undefined;
    if (endpoint) this.endpoints.check(endpoint);
    const role = destination.aws_role_arn ?? undefined;
    if (role !== undefined) {
      if (!this.mayAssume(role, endpoint)) throw new RoleNotAllowed();
    } else if (!credentials && !this.mayUseOwnCredentials(destination.bucket_name, endpoint)) {
      throw new CredentialsRequired();
    }
    const lookup = endpoint && this.endpoints.lookupFor(endpoint);
    const style = destination.config_kwargs_s3?.addressing_style ?? 'auto';
    // AWS's own names may resolve to a private address (a VPC endpoint): the guard is for endpoints that a user gives.
    const agentOptions = {
      keepAlive: true,
      maxSockets: 20,
      ...(lookup && { lookup }),
    };
    const client = new S3Client({
      region: destination.region ?? 'us-east-1',
      ...(endpoint && { endpoint: endpoint.href }),
      // A store on an address or a bare name has no virtual hosts.
      forcePathStyle: style === 'path' || (style === 'auto' && endpoint !== undefined),
      useAccelerateEndpoint: destination.config_kwargs_s3?.use_accelerate_endpoint ?? false,
      ...(credentials && {
        credentials: {
          accessKeyId: credentials.access_key_id,
          secretAccessKey: credentials.secret_access_key,
          ...(credentials.session_token && { sessionToken: credentials.session_token }),
        },
      }),
      ...(role !== undefined && { credentials: this.assume(role, tenantId, destination, patience) }),
      // The SDK's default checksums are trailers that Google's and older stores refuse; Content-MD5 goes with every upload.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      maxAttempts: patience.maxAttempts,
      requestHandler: requestHandler(patience, agentOptions),
    });
    return new ObjectStore(client, destination);
  }

  /**
   * Temporary credentials of the tenant's role, renewed before they expire. The tenant's id is the external id: a role that
   * asks for it can't be used through this server by another tenant.
   */
  private assume(
    role: string,
    tenantId: TenantId,
    { region }: DestinationConfig,
    patience: PatienceSettings,
  ): NonNullable<S3ClientConfig['credentials']> {
    const endpoint = this.stsEndpoint;
    if (endpoint) this.endpoints.checkAddress(endpoint);
    const lookup = endpoint && this.endpoints.lookupFor(endpoint);
    const provider = fromTemporaryCredentials({
      params: { RoleArn: role, RoleSessionName: `gantry-${tenantId}`, ExternalId: tenantId },
      clientConfig: {
        region: region ?? 'us-east-1',
        maxAttempts: patience.maxAttempts,
        requestHandler: requestHandler(patience, lookup ? { lookup } : {}),
        ...(endpoint && { endpoint: endpoint.href }),
      },
    });
    return async () => {
      try {
        return await provider();
      } catch (error) {
        // What the service answers with is for the tenant to mend; what doesn't reach it may pass.
        throw (error as { $fault?: unknown }).$fault === 'client' ? new RoleRefused(error) : error;
      }
    };
  }

  private mayAssume(role: string, endpoint: URL | undefined): boolean {
    const isListed = this.ambientRoles.some((listed) =>
      listed.endsWith('*') ? role.startsWith(listed.slice(0, -1)) : role === listed,
    );
    return isListed && (endpoint === undefined || this.endpoints.isOwn(endpoint));
  }

  /** A tenant's endpoint would get what the cloud gave this machine: only AWS and the deployment's own store do. */
  private mayUseOwnCredentials(bucket: string, endpoint: URL | undefined): boolean {
    return this.ambientBuckets.has(bucket) && (endpoint === undefined || this.endpoints.isOwn(endpoint));
  }

  /** What an error of a store means, in words. */
  explain(error: unknown): StoreProblem {
    return explainStoreError(error);
  }
}

function requestHandler(
  patience: PatienceSettings,
  agentOptions: object,
): NonNullable<S3ClientConfig['requestHandler']> {
  return {
    connectionTimeout: patience.connectionTimeout,
    requestTimeout: patience.answerTimeout,
    throwOnRequestTimeout: true,
    socketTimeout: patience.answerTimeout,
    httpAgent: new HttpAgent(agentOptions),
    httpsAgent: new HttpsAgent(agentOptions),
  };
}
