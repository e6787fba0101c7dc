import { createHash } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Readable } from 'node:stream';
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { DeleteObjectsCommand, GetObjectCommand, NoSuchKey, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { TenantId } from '../../auth/tenant';
import { AppConfig, ObjectStoreSettings } from '../../config/config';
import { traceErrors } from '../trace.errors';

/** Clients give an upload up after 10 s: the answer that the store is away must come before. */
const PUT_DEADLINE_MS = 8_000;
const ATTEMPT_TIMEOUT_MS = 4_000;
const CONNECT_TIMEOUT_MS = 2_000;
const ATTEMPTS = 2;
/** S3 takes no more in one request. */
export const MAX_DELETED = 1_000;

/** Bytes in the pieces that they came in: putting them together would hold them twice. */
export interface Content {
  pieces: Buffer[];
  size: number;
}

/** The bucket of this deployment, where attachments are. */
@Injectable()
export class AttachmentStore implements OnApplicationShutdown {
  private readonly logger = new Logger(AttachmentStore.name);
  private readonly settings: ObjectStoreSettings | undefined;
  private readonly client: S3Client | undefined;

  constructor(config: AppConfig) {
    this.settings = config.objectStore;
    this.client = this.settings && connect(this.settings);
  }

  /** Whether there is a bucket; without one attachments stay in Postgres. */
  get isConfigured(): boolean {
    return this.client !== undefined;
  }

  /** Where these bytes go: the same bytes of the same run have the same key, so a replay writes what is there already. */
  keyOf(tenantId: TenantId, runId: string, { pieces }: Content): string {
    const hash = createHash('sha256');
    for (const piece of pieces) hash.update(piece);
    return `attachments/${tenantId}/${runId}/${hash.digest('hex')}`;
  }

  /** @throws {ApiError} 503 when the store doesn't take it in time. */
  async put(key: string, content: Content): Promise<void> {
    const md5 = createHash('md5');
    for (const piece of content.pieces) md5.update(piece);
    const command = {
      ...this.place(key),
      ContentLength: content.size,
      ContentMD5: md5.digest('base64'),
      ContentType: 'application/octet-stream',
    };
    const abortSignal = AbortSignal.timeout(PUT_DEADLINE_MS);
    for (let attempt = 1; ; attempt += 1) {
      try {
        // A stream can be sent once, so the client can't repeat it by itself.
        const body = content.size === 0 ? '' : Readable.from(content.pieces, { objectMode: false });
        await this.connection().send(new PutObjectCommand({ ...command, Body: body }), { abortSignal });
        return;
      } catch (error) {
        if (attempt < ATTEMPTS && !abortSignal.aborted) continue;
        this.logger.warn({ err: error, key }, 'An attachment could not be written to the object store');
        throw traceErrors.attachmentStoreUnavailable();
      }
    }
  }

  /**
   * An object's bytes as they come; undefined when it is not there.
   * @throws {ApiError} 503
   */
  async read(key: string): Promise<Readable | undefined> {
    try {
      const { Body } = await this.connection().send(new GetObjectCommand(this.place(key)));
      return Body as Readable;
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined;
      this.logger.warn({ err: error, key }, 'An attachment could not be read from the object store');
      throw traceErrors.attachmentStoreUnavailable();
    }
  }

  /**
   * Deletes up to MAX_DELETED objects; one that is not there counts as deleted.
   * @returns the keys that the store would not delete
   */
  async delete(keys: string[]): Promise<Set<string>> {
    if (keys.length === 0) return new Set();
    const { Errors = [] } = await this.connection().send(
      new DeleteObjectsCommand({
        Bucket: this.settings?.bucket,
        Delete: { Objects: keys.map((Key) => ({ Key })), Quiet: true },
      }),
    );
    const kept = Errors.filter(({ Code }) => Code !== 'NoSuchKey');
    if (kept.length > 0) this.logger.warn({ first: kept[0], count: kept.length }, 'Attachments could not be deleted');
    return new Set(kept.map(({ Key }) => Key ?? ''));
  }

  onApplicationShutdown(): void {
    this.client?.destroy();
  }

  private place(key: string): { Bucket: string | undefined; Key: string } {
    return { Bucket: this.settings?.bucket, Key: key };
  }

  /** @throws {ApiError} 503 when rows name objects and no store is configured (any more). */
  private connection(): S3Client {
    if (!this.client) throw traceErrors.attachmentStoreUnavailable();
    return this.client;
  }
}

const ignore = (): void => undefined;
/** The client writes to the console without one, at each failure of a stream: failures are logged here, once. */
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

function connect({ endpoint, region, credentials }: ObjectStoreSettings): S3Client {
  const agentOptions = { keepAlive: true, maxSockets: 50 };
  return new S3Client({
    region,
    logger: SILENT,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials }),
    // The SDK's default checksums are trailers that Google's and older stores refuse; Content-MD5 goes with every upload.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: ATTEMPT_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpAgent: new HttpAgent(agentOptions),
      httpsAgent: new HttpsAgent(agentOptions),
    },
  });
}
