import { Injectable } from '@nestjs/common';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import { AddressPolicy } from '../network/address-policy';
import { EndpointPolicy } from './endpoint-policy';
import type { ObjectStore } from './object-store';
import type { PatienceSettings } from './patience';
import { explainS3Error } from './s3/s3-errors';
import { S3Opener } from './s3/s3-opener';
import type { S3Credentials, S3Location } from './s3/s3-schemas';
import { StoreError } from './store-error';

/** A bucket that a tenant names, by the kind of its store. */
export interface StoreTarget {
  type: 's3';
  location: S3Location;
  credentials: S3Credentials | undefined;
}

/** Opens the stores that tenants name, of each kind, under the endpoint policy. */
@Injectable()
export class ObjectStores {
  private readonly s3: S3Opener;

  constructor({ exports: settings }: AppConfig) {
    const { allowCidrs, ownEndpoint } = settings;
    const own = ownEndpoint ? new URL(ownEndpoint) : undefined;
    this.s3 = new S3Opener(new EndpointPolicy(new AddressPolicy(allowCidrs), own), settings);
  }

  /** @throws {StoreError} for an endpoint that isn't connected to, and where credentials are missing. */
  open(tenantId: TenantId, target: StoreTarget, patience: PatienceSettings): ObjectStore {
    try {
      return this.s3.open(tenantId, target.location, target.credentials, patience);
    } catch (error) {
      throw new StoreError(explainS3Error(error), error);
    }
  }
}
