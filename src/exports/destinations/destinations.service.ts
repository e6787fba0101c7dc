import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../../auth/tenant';
import { SecretBox } from '../../crypto/secret-box';
import { SEALED_FIELDS } from '../../crypto/sealed-fields';
import { DestinationEntity } from './destination.entity';
import { DestinationsRepository } from './destinations.repository';
import type {
  CreateDestination,
  DestinationConfig,
  DestinationCredentials,
  UpdateDestination,
} from './destinations.schemas';
import { exportErrors } from '../exports.errors';
import { destinationKey } from './export-layout';
import { contentOf, ObjectStore } from '../../storage/object-store';
import { ObjectStores } from '../../storage/object-stores';
import { Patience } from '../../storage/patience';
import { explainStoreError, sentenceOf } from '../../storage/store-error';

export interface OpenDestination {
  config: DestinationConfig;
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
  async create(tenantId: TenantId, request: CreateDestination): Promise<DestinationEntity> {
    await this.testWrite(tenantId, request.config, request.credentials);
    const destinationId = uuidv7();
    return this.destinations.insert(tenantId, {
      destinationId,
      destinationType: request.destination_type,
      displayName: request.display_name,
      config: request.config,
      ...this.sealed(tenantId, destinationId, request.credentials),
    });
  }

  list(tenantId: TenantId): Promise<DestinationEntity[]> {
    return this.destinations.list(tenantId);
  }

  async get(tenantId: TenantId, destinationId: string): Promise<DestinationEntity> {
    const row = await this.destinations.find(tenantId, destinationId);
    if (!row) throw exportErrors.destinationNotFound(destinationId);
    return row;
  }

  /** Replaces the credentials, or the role in place of them: partitions that start from now on use them. */
  async rotate(tenantId: TenantId, destinationId: string, request: UpdateDestination): Promise<DestinationEntity> {
    const row = await this.get(tenantId, destinationId);
    const { aws_role_arn: _, ...config } = row.config;
    const changed = request.aws_role_arn === undefined ? config : { ...config, aws_role_arn: request.aws_role_arn };
    await this.testWrite(tenantId, changed, request.credentials);
    await this.destinations.replaceCredentials(tenantId, destinationId, {
      config: changed,
      ...this.sealed(tenantId, destinationId, request.credentials),
    });
    return this.get(tenantId, destinationId);
  }

  async delete(tenantId: TenantId, destinationId: string): Promise<void> {
    await this.get(tenantId, destinationId);
    if (!(await this.destinations.delete(tenantId, destinationId))) throw exportErrors.destinationInUse(destinationId);
  }

  /** The store of a destination, for an export's work on it. The caller closes it. */
  async open(tenantId: TenantId, destinationId: string): Promise<OpenDestination> {
    const row = await this.get(tenantId, destinationId);
    const credentials = row.credentials
      ? (JSON.parse(
          this.secrets.open(row.credentials, SEALED_FIELDS.destinationCredentials.context(tenantId, destinationId)),
        ) as DestinationCredentials)
      : undefined;
    return {
      config: row.config,
      store: this.stores.open(tenantId, { type: 's3', location: row.config, credentials }, Patience.work),
    };
  }

  /** Writes a small object under `<prefix>/tmp/` and deletes it where that is permitted. */
  private async testWrite(
    tenantId: TenantId,
    config: DestinationConfig,
    credentials: DestinationCredentials | undefined,
  ): Promise<void> {
    let store: ObjectStore | undefined;
    try {
      store = this.stores.open(tenantId, { type: 's3', location: config, credentials }, Patience.question);
      const key = destinationKey(config, 'tmp', `gantry-write-test-${uuidv7()}.txt`);
      await store.put(key, contentOf(Buffer.from('Gantry wrote this to test the destination. It may be deleted.\n')));
      // One that the store keeps is harmless: it says what it is.
      await store.delete([key]);
    } catch (error) {
      throw exportErrors.destinationInvalid(sentenceOf(explainStoreError(error)));
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
