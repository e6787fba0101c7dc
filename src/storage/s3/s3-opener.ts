import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { fromTemporaryCredentials } from '@aws-sdk/credential-providers';
import type { TenantId } from '../../auth/tenant';
import type { ExportSettings } from '../../config/settings/exports';
import { CredentialsRequired, RoleNotAllowed, RoleRefused, RoleUnavailable } from '../credentials-required';
import type { EndpointPolicy } from '../endpoint-policy';
import type { ObjectStore } from '../object-store';
import type { PatienceSettings } from '../patience';
import { connectS3, requestHandler } from './s3-client';
import { S3ObjectStore } from './s3-object-store';
import type { S3Credentials, S3Location } from './s3-schemas';

/** Answers of the token service that have to be fixed by the tenant. */
const REFUSALS: ReadonlySet<string> = new Set(['AccessDenied', 'ValidationError', 'RegionDisabledException']);

/** Opens buckets of S3, and of stores with its API. */
export class S3Opener {
  /** Buckets that this process's own credentials may write to. */
  private readonly ambientBuckets: ReadonlySet<string>;
  /** Roles that this process's own identity may assume: ARNs, or beginnings that end in `*`. */
  private readonly ambientRoles: readonly string[];
  private readonly stsEndpoint: URL | undefined;

  constructor(
    private readonly endpoints: EndpointPolicy,
    {
      ambientBuckets,
      ambientRoles,
      stsEndpoint,
    }: Pick<ExportSettings, 'ambientBuckets' | 'ambientRoles' | 'stsEndpoint'>,
  ) {
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
    location: S3Location,
    credentials: S3Credentials | undefined,
    patience: PatienceSettings,
  ): ObjectStore {
    const endpoint = location.endpoint_url ? new URL(location.endpoint_url) : undefined;
    if (endpoint) this.endpoints.check(endpoint);
    const role = location.aws_role_arn ?? undefined;
    if (role !== undefined) {
      if (!this.mayAssume(role, endpoint)) throw new RoleNotAllowed();
    } else if (!credentials && !this.mayUseOwnCredentials(location.bucket_name, endpoint)) {
      throw new CredentialsRequired();
    }
    const lookup = endpoint && this.endpoints.lookupFor(endpoint);
    const style = location.config_kwargs_s3?.addressing_style ?? 'auto';
    const client = connectS3({
      region: location.region ?? 'us-east-1',
      ...(endpoint && { endpoint: endpoint.href }),
      // A store on an address or a bare name has no virtual hosts.
      forcePathStyle: style === 'path' || (style === 'auto' && endpoint !== undefined),
      useAccelerateEndpoint: location.config_kwargs_s3?.use_accelerate_endpoint ?? false,
      ...(credentials && {
        credentials: {
          accessKeyId: credentials.access_key_id,
          secretAccessKey: credentials.secret_access_key,
          ...(credentials.session_token && { sessionToken: credentials.session_token }),
        },
      }),
      ...(role !== undefined && { credentials: this.assume(role, tenantId, location, patience) }),
      // AWS's own names may resolve to a private address (a VPC endpoint): the guard is for endpoints that a user gives.
      ...(lookup && { lookup }),
      maxSockets: 20,
      patience,
    });
    return new S3ObjectStore(client, location);
  }

  /**
   * Temporary credentials of the tenant's role, renewed before they expire. The tenant's id is the external id: a role that
   * asks for it can't be used through this server by another tenant.
   */
  private assume(
    role: string,
    tenantId: TenantId,
    { region }: S3Location,
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
        const { $fault: fault, name } = error as { $fault?: unknown; name?: string };
        // The service also blames its client for too many requests, and for an identity of the server that has expired.
        if (fault !== 'client') throw error;
        throw REFUSALS.has(name ?? '') ? new RoleRefused(error) : new RoleUnavailable(error);
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
}
