import { Injectable } from '@nestjs/common';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import { AddressPolicy } from '../network/address-policy';
import { explainAzureError } from './azure/azure-errors';
import { AzureOpener } from './azure/azure-opener';
import type { AzureCredentials, AzureLocation } from './azure/azure-schemas';
import { EndpointPolicy } from './endpoint-policy';
import { explainGcsError } from './gcs/gcs-errors';
import { GcsOpener } from './gcs/gcs-opener';
import type { GcsCredentials, GcsLocation } from './gcs/gcs-schemas';
import type { ObjectStore } from './object-store';
import type { PatienceSettings } from './patience';
import { explainS3Error } from './s3/s3-errors';
import { S3Opener } from './s3/s3-opener';
import type { S3Credentials, S3Location } from './s3/s3-schemas';
import { StoreError, StoreProblem } from './store-error';

/** A bucket that a tenant names, by the kind of its store. */
export type StoreTarget =
  | { type: 's3'; location: S3Location; credentials: S3Credentials | undefined }
  | { type: 'gcs'; location: GcsLocation; credentials: GcsCredentials | undefined }
  | { type: 'azure_blob'; location: AzureLocation; credentials: AzureCredentials | undefined };

const EXPLAIN: Record<StoreTarget['type'], (error: unknown) => StoreProblem> = {
  s3: explainS3Error,
  gcs: explainGcsError,
  azure_blob: explainAzureError,
};

/** Opens the stores that tenants name, of each kind, under the endpoint policy. */
@Injectable()
export class ObjectStores {
  private readonly s3: S3Opener;
  private readonly gcs: GcsOpener;
  private readonly azure: AzureOpener;

  constructor({ exports: settings }: AppConfig) {
    const { allowCidrs, ambientBuckets, ownEndpoint } = settings;
    const own = ownEndpoint ? new URL(ownEndpoint) : undefined;
    const endpoints = new EndpointPolicy(new AddressPolicy(allowCidrs), own);
    this.s3 = new S3Opener(endpoints, settings);
    this.gcs = new GcsOpener(endpoints, ambientBuckets);
    this.azure = new AzureOpener(endpoints);
  }

  /** @throws {StoreError} for an endpoint that isn't connected to, and where credentials are missing. */
  open(tenantId: TenantId, target: StoreTarget, patience: PatienceSettings): ObjectStore {
    try {
      if (target.type === 's3') return this.s3.open(tenantId, target.location, target.credentials, patience);
      if (target.type === 'gcs') return this.gcs.open(target.location, target.credentials, patience);
      return this.azure.open(target.location, target.credentials, patience);
    } catch (error) {
      throw new StoreError(EXPLAIN[target.type](error), error);
    }
  }
}
