import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import type { TenantId } from '../../auth/tenant';
import { AppConfig } from '../../config/config';
import type { ObjectStoreSettings } from '../../config/settings/traces';
import type { Content, ObjectStore } from '../../storage/object-store';
import { openOwnBucket } from '../../storage/own-bucket';
import { traceErrors } from '../trace.errors';

/** Clients abandon an upload after 10 s; the answer that the store is unavailable must come before. */
const PUT_DEADLINE_MS = 8_000;
const PATIENCE = { maxAttempts: 2, connectionTimeout: 2_000, answerTimeout: 4_000, pieceTimeout: 0 };
/** Maximum that a store accepts in one request. */
export const MAX_DELETED = 1_000;

/** The bucket of this deployment for attachments. */
@Injectable()
export class AttachmentStore implements OnApplicationShutdown {
  private readonly logger = new Logger(AttachmentStore.name);
  private readonly settings: ObjectStoreSettings | undefined;
  /** Opened for the first attachment: the library for it takes 10 MB, which most deployments never need. */
  private store: ObjectStore | undefined;

  constructor({ traces }: AppConfig) {
    this.settings = traces.objectStore;
  }

  /** Whether there is a bucket; without one attachments stay in Postgres. */
  get isConfigured(): boolean {
    return this.settings !== undefined;
  }

  /**
   * Key of the object for these bytes: the same bytes of the same run have the same key, so a replay writes the same object.
   */
  keyOf(tenantId: TenantId, runId: string, { pieces }: Content): string {
    const hash = createHash('sha256');
    for (const piece of pieces) hash.update(piece);
    return `attachments/${tenantId}/${runId}/${hash.digest('hex')}`;
  }

  /** @throws {ApiError} 503 when the store doesn't accept it in time */
  async putAttachment(key: string, content: Content): Promise<void> {
    try {
      const signal = AbortSignal.timeout(PUT_DEADLINE_MS);
      await this.connection().put(key, content, { contentType: 'application/octet-stream', signal });
    } catch (error) {
      this.logger.warn({ err: error, key }, 'An attachment could not be written to the object store');
      throw traceErrors.attachmentStoreUnavailable();
    }
  }

  /**
   * Streams an object's bytes; undefined if it doesn't exist.
   * @throws {ApiError} 503
   */
  async readAttachment(key: string): Promise<Readable | undefined> {
    const store = this.connection();
    try {
      const object = await store.read(key);
      if (object.state === 'found') return object.value;
      if (object.state === 'missing') return undefined;
      throw new Error(`The credentials may not read (${store.permissions.read})`);
    } catch (error) {
      this.logger.warn({ err: error, key }, 'An attachment could not be read from the object store');
      throw traceErrors.attachmentStoreUnavailable();
    }
  }

  /**
   * Deletes up to MAX_DELETED objects; one that doesn't exist counts as deleted.
   * @returns the keys that the store would not delete
   */
  async deleteAttachments(keys: string[]): Promise<Set<string>> {
    if (keys.length === 0) return new Set();
    const kept = await this.connection().delete(keys);
    if (kept.length > 0) this.logger.warn({ first: kept[0], count: kept.length }, 'Attachments could not be deleted');
    return new Set(kept);
  }

  onApplicationShutdown(): void {
    this.store?.close();
  }

  /** @throws {ApiError} 503 when rows name objects and no store is configured (any more). */
  private connection(): ObjectStore {
    if (!this.settings) throw traceErrors.attachmentStoreUnavailable();
    return (this.store ??= openOwnBucket(this.settings, PATIENCE));
  }
}
