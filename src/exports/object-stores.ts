import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Injectable } from '@nestjs/common';
import { S3Client } from '@aws-sdk/client-s3';
import { AppConfig } from '../config/config';
import type { DestinationConfig, DestinationCredentials } from './destinations.schemas';
import { AddressPolicy } from '../network/address-policy';
import { CredentialsRequired } from './credentials-required';
import { EndpointPolicy } from './endpoint-policy';
import { ObjectStore } from './object-store';
import { explainStoreError, StoreProblem } from './s3-errors';

interface PatienceSettings {
  maxAttempts: number;
  connectionTimeout: number;
  /** Until an answer begins, and between two pieces of it. */
  answerTimeout: number;
}

/** How long a store is waited for: somebody who asks wants an answer now, an export's work can wait. */
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

  constructor({ exports: { allowCidrs, ownEndpoint, ambientBuckets } }: AppConfig) {
    this.endpoints = new EndpointPolicy(new AddressPolicy(allowCidrs), ownEndpoint ? new URL(ownEndpoint) : undefined);
    this.ambientBuckets = new Set(ambientBuckets);
  }

  /**
   * @throws {EndpointRefused} when the endpoint's address is not one to connect to.
   * @throws {CredentialsRequired} when there are none, and this process's own are not for this bucket.
   */
  open(
    destination: DestinationConfig,
    credentials: DestinationCredentials | undefined,
    patience: PatienceSettings,
  ): ObjectStore {
    const endpoint = destination.endpoint_url ? new URL(destination.endpoint_url) : undefined;
    if (endpoint) this.endpoints.check(endpoint);
    if (!credentials && !this.mayUseOwnCredentials(destination.bucket_name, endpoint)) throw new CredentialsRequired();
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
      // The SDK's default checksums are trailers that Google's and older stores refuse; Content-MD5 goes with every upload.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      maxAttempts: patience.maxAttempts,
      requestHandler: {
        connectionTimeout: patience.connectionTimeout,
        requestTimeout: patience.answerTimeout,
        throwOnRequestTimeout: true,
        socketTimeout: patience.answerTimeout,
        httpAgent: new HttpAgent(agentOptions),
        httpsAgent: new HttpsAgent(agentOptions),
      },
    });
    return new ObjectStore(client, destination);
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
