import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../../auth/tenant';
import { SecretBox } from '../../crypto/secret-box';
import { invalidField, invalidRequest } from '../../http/api-error';
import { SEALED_FIELDS } from '../../crypto/sealed-fields';
import { checkDestination, type DestinationCheck, unopened } from './destination-check';
import { DestinationEntity } from './destination.entity';
import { placeOf } from './destination.mapper';
import { DestinationsRepository } from './destinations.repository';
import {
  CREDENTIALS,
  type CreateDestination,
  type DestinationConfig,
  type DestinationCredentials,
  type DestinationPlace,
  type DestinationType,
  type S3Config,
  type UpdateDestination,
} from './destinations.schemas';
import { ExportFailure, exportFailures, toExportFailure } from '../export-failure';
import { exportErrors } from '../exports.errors';
import { destinationKey } from './export-layout';
import { contentOf, ObjectStore } from '../../storage/object-store';
import { ObjectStores, StoreTarget } from '../../storage/object-stores';
import { Patience, type PatienceSettings } from '../../storage/patience';
import { explainStoreError, sentenceOf, StoreError } from '../../storage/store-error';

export interface OpenDestination {
  destinationId: string;
  /** When its credentials were last replaced, as it was opened. */
  updatedAt: Date;
  place: DestinationPlace;
  store: ObjectStore;
}

/** Where exports go: a bucket, and the sealed credentials for it. */
@Injectable()
export class DestinationsService {
  constructor(
    private readonly destinations: DestinationsRepository,
    private readonly secrets: SecretBox,
    private readonly stores: ObjectStores,
  ) {}

  /** Stores a destination that has just been written to. */
  async createDestination(tenantId: TenantId, request: CreateDestination): Promise<DestinationEntity> {
    const place = { type: request.destination_type, ...request.config } as DestinationPlace;
    await this.testWrite(tenantId, place, request.credentials);
    const destinationId = uuidv7();
    return this.destinations.insertDestination(tenantId, {
      destinationId,
      destinationType: request.destination_type,
      displayName: request.display_name,
      config: request.config,
      ...this.sealed(tenantId, destinationId, request.credentials),
    });
  }

  listDestinations(tenantId: TenantId): Promise<DestinationEntity[]> {
    return this.destinations.listDestinations(tenantId);
  }

  async getDestination(tenantId: TenantId, destinationId: string): Promise<DestinationEntity> {
    const row = await this.destinations.findDestination(tenantId, destinationId);
    if (!row) throw exportErrors.destinationNotFound(destinationId);
    return row;
  }

  /**
   * Replaces the credentials, or the role in place of them: partitions that start from now on use them.
   * @throws {ApiError} 404; 422 for credentials of another kind of store; 400 when the destination can't be written to
   */
  async rotateCredentials(
    tenantId: TenantId,
    destinationId: string,
    request: UpdateDestination,
  ): Promise<DestinationEntity> {
    const row = await this.getDestination(tenantId, destinationId);
    const config = configWithRole(row, request.aws_role_arn);
    const credentials = request.credentials && credentialsFor(row.destinationType, request.credentials);
    await this.testWrite(tenantId, placeOf({ ...row, config }), credentials);
    await this.destinations.replaceCredentials(tenantId, destinationId, {
      config,
      ...this.sealed(tenantId, destinationId, credentials),
    });
    return this.getDestination(tenantId, destinationId);
  }

  async deleteDestination(tenantId: TenantId, destinationId: string): Promise<void> {
    await this.getDestination(tenantId, destinationId);
    if (!(await this.destinations.deleteDestination(tenantId, destinationId)))
      throw exportErrors.destinationInUse(destinationId);
  }

  /** Writes, reads and deletes a small object with the stored credentials, and reports which of it is permitted. */
  async testDestination(tenantId: TenantId, destinationId: string): Promise<DestinationCheck[]> {
    try {
      const { place, store } = await this.openDestination(tenantId, destinationId, Patience.question);
      try {
        return await checkDestination(store, destinationKey(place, 'tmp', `gantry-test-${uuidv7()}.txt`));
      } finally {
        store.close();
      }
    } catch (error) {
      // The endpoint policy and missing credentials refuse a store before a request is sent.
      if (error instanceof StoreError) return unopened(error);
      throw error;
    }
  }

  /** The store of a destination, for an export's work on it or for a question. The caller closes it. */
  async openDestination(
    tenantId: TenantId,
    destinationId: string,
    patience: PatienceSettings = Patience.work,
  ): Promise<OpenDestination> {
    const row = await this.getDestination(tenantId, destinationId);
    const credentials = row.credentials
      ? (JSON.parse(
          this.secrets.open(row.credentials, SEALED_FIELDS.destinationCredentials.context(tenantId, destinationId)),
        ) as DestinationCredentials)
      : undefined;
    const place = placeOf(row);
    const store = this.stores.open(tenantId, targetOf(place, credentials), patience);
    return { destinationId, updatedAt: row.updatedAt, place, store };
  }

  /** The failure of work on an open destination. If the credentials have been replaced since, it isn't final: the next attempt has these. */
  async failureOf(tenantId: TenantId, opened: OpenDestination, error: unknown): Promise<ExportFailure> {
    const failure = toExportFailure(error);
    if (error instanceof ExportFailure || !failure.isFinal) return failure;
    const { updatedAt } = await this.getDestination(tenantId, opened.destinationId);
    return updatedAt > opened.updatedAt ? exportFailures.outdated(failure) : failure;
  }

  /** Writes a small object under `<prefix>/tmp/`, and deletes it if that is permitted. */
  private async testWrite(
    tenantId: TenantId,
    place: DestinationPlace,
    credentials: DestinationCredentials | undefined,
  ): Promise<void> {
    let store: ObjectStore | undefined;
    try {
      store = this.stores.open(tenantId, targetOf(place, credentials), Patience.question);
      const key = destinationKey(place, 'tmp', `gantry-write-test-${uuidv7()}.txt`);
      await store.put(key, contentOf(Buffer.from('Gantry wrote this to test the destination. It may be deleted.\n')));
      // An object that can't be deleted is harmless: its content explains itself.
      await store.delete([key]).catch(() => undefined);
    } catch (error) {
      throw exportErrors.destinationInvalid(place.type, sentenceOf(explainStoreError(error)));
    } finally {
      store?.close();
    }
  }

  private sealed(
    tenantId: TenantId,
    destinationId: string,
    given: DestinationCredentials | undefined,
  ): Pick<DestinationEntity, 'credentials' | 'credentialsKeys'> {
    if (!given) return { credentials: null, credentialsKeys: [] };
    const present = Object.entries(given).filter(([, value]) => value != null);
    return {
      credentials: this.secrets.seal(
        JSON.stringify(Object.fromEntries(present)),
        SEALED_FIELDS.destinationCredentials.context(tenantId, destinationId),
      ),
      credentialsKeys: present.map(([name]) => name).sort(),
    };
  }
}

function targetOf(place: DestinationPlace, credentials: DestinationCredentials | undefined): StoreTarget {
  return { type: place.type, location: place, credentials } as StoreTarget;
}

/** The config with another role, or with none where credentials take its place. */
function configWithRole({ destinationType, config }: DestinationEntity, role: string | undefined): DestinationConfig {
  if (destinationType !== 's3') {
    if (role === undefined) return config;
    throw invalidField('aws_role_arn', `is for s3, and the destination is ${destinationType}`);
  }
  const { aws_role_arn: _, ...others } = config as S3Config;
  return role === undefined ? others : { ...others, aws_role_arn: role };
}

/** @throws {ApiError} 422 naming a field that the kind of destination doesn't have, or that is missing */
function credentialsFor(type: DestinationType, given: object): DestinationCredentials {
  const parsed = CREDENTIALS[type].safeParse(given);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error.issues.map((issue) => ({ ...issue, path: ['credentials', ...issue.path] })));
}
