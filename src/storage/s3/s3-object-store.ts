import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  ChecksumAlgorithm,
  CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { rangeOf } from '../bounded-answer';
import { PASSING_STATUSES } from '../http-transport';
import {
  Content,
  Found,
  md5Of,
  md5OfStream,
  NotSent,
  ObjectRange,
  ObjectStore,
  PutOptions,
  sliceOf,
  whenSending,
} from '../object-store';
import { StoreError } from '../store-error';
import { explainS3Error } from './s3-errors';
import type { S3Location } from './s3-schemas';

/**
 * Up to this size an object is one PUT: one permission, and nothing dangling when it fails. Above it the pieces of a
 * multipart upload have this size, which at the 10,000 pieces that S3 allows is enough for 640 GiB.
 */
const PIECE_BYTES = 64 * 1024 * 1024;
/** S3 deletes no more in one request. */
const DELETED_AT_ONCE = 1_000;

/** A bucket of S3, or of a store with its API. */
export class S3ObjectStore implements ObjectStore {
  readonly permissions = { write: 's3:PutObject', read: 's3:GetObject', delete: 's3:DeleteObject' };

  constructor(
    private readonly client: S3Client,
    private readonly location: Pick<S3Location, 'bucket_name' | 's3_additional_kwargs'>,
  ) {}

  async put(key: string, content: Content, options: PutOptions = {}): Promise<void> {
    await explained(async () => {
      if (content.size > PIECE_BYTES) return this.putInPieces(key, content, options);
      await this.repeated(content, options.signal, (Body) =>
        this.client.send(
          guarded(
            new PutObjectCommand({
              ...this.objectOptions(key, options),
              Body,
              ContentLength: content.size,
              ...this.checksumOf(content, options.md5),
            }),
            options,
          ),
          { abortSignal: options.signal },
        ),
      );
    });
  }

  async head(key: string, signal?: AbortSignal): Promise<Found<number>> {
    return found(async () => {
      const head = await this.client.send(new HeadObjectCommand(this.place(key)), { abortSignal: signal });
      return head.ContentLength ?? 0;
    });
  }

  async read(key: string, signal?: AbortSignal): Promise<Found<Readable>> {
    return found(async () => {
      const object = await this.client.send(new GetObjectCommand(this.place(key)), { abortSignal: signal });
      return (object.Body as Readable | undefined) ?? Readable.from([]);
    });
  }

  async readRange(key: string, from: number, to: number, signal?: AbortSignal): Promise<Found<ObjectRange>> {
    return found(async () => {
      const object = await this.client.send(
        new GetObjectCommand({ ...this.place(key), Range: `bytes=${from}-${to - 1}` }),
        { abortSignal: signal },
      );
      return rangeOf((object.Body as Readable | undefined) ?? Readable.from([]), object.ContentRange, from, to);
    });
  }

  async checksum(key: string, signal?: AbortSignal): Promise<Found<string>> {
    const object = await this.read(key, signal);
    if (object.state !== 'found') return object;
    return explained(async () => ({ state: 'found', value: await md5OfStream(object.value) }));
  }

  async delete(keys: string[]): Promise<string[]> {
    return explained(async () => {
      if (keys.length === 1) return this.deleteOne(keys[0]);
      const kept: string[] = [];
      for (let from = 0; from < keys.length; from += DELETED_AT_ONCE) {
        const Objects = keys.slice(from, from + DELETED_AT_ONCE).map((Key) => ({ Key }));
        const { Errors = [] } = await this.client.send(
          new DeleteObjectsCommand({ Bucket: this.location.bucket_name, Delete: { Objects, Quiet: true } }),
        );
        kept.push(...Errors.filter(({ Code }) => Code !== 'NoSuchKey').map(({ Key }) => Key ?? ''));
      }
      return kept;
    });
  }

  close(): void {
    this.client.destroy();
  }

  /** One object by its own request: Google's S3 API doesn't know the other one. */
  private async deleteOne(key: string): Promise<string[]> {
    try {
      await this.client.send(new DeleteObjectCommand(this.place(key)));
      return [];
    } catch (error) {
      const status = statusOf(error);
      if (status === undefined || PASSING_STATUSES.has(status)) throw error;
      return status === 404 ? [] : [key];
    }
  }

  private async putInPieces(key: string, content: Content, options: PutOptions): Promise<void> {
    const target = this.place(key);
    const sending = { abortSignal: options.signal };
    const begin = new CreateMultipartUploadCommand(this.objectOptions(key, options));
    const { UploadId } = await this.client.send(guarded(begin, options), sending);
    try {
      const Parts: CompletedPart[] = [];
      for (let offset = 0; offset < content.size; offset += PIECE_BYTES) {
        const piece = sliceOf(content, offset, offset + PIECE_BYTES);
        const PartNumber = Parts.length + 1;
        const part = { ...target, UploadId, PartNumber, ContentLength: piece.size, ...this.checksumOf(piece) };
        const { ETag, ChecksumCRC32, ChecksumCRC32C, ChecksumSHA1, ChecksumSHA256 } = await this.repeated(
          piece,
          options.signal,
          (Body) => this.client.send(guarded(new UploadPartCommand({ ...part, Body }), options), sending),
        );
        Parts.push({ ETag, PartNumber, ChecksumCRC32, ChecksumCRC32C, ChecksumSHA1, ChecksumSHA256 });
      }
      const end = new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } });
      await this.client.send(guarded(end, options), sending);
    } catch (error) {
      // The answer to the last request may be lost, and the client's repetition finds the upload gone: it is complete.
      if (codeOf(error) === 'NoSuchUpload' && (await this.isWhole(key, content.size, options.signal))) return;
      // Where aborting isn't permitted the bucket's own lifecycle rule clears the pieces; the error is the upload's.
      await this.client.send(new AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => undefined);
      throw error;
    }
  }

  private async isWhole(key: string, size: number, signal?: AbortSignal): Promise<boolean> {
    const head = await this.head(key, signal);
    return head.state === 'found' && head.value === size;
  }

  /**
   * Sends a body in its pieces. One that is a single buffer the client repeats by itself; a stream it can send only once.
   */
  private async repeated<T>(
    { pieces, size }: Content,
    signal: AbortSignal | undefined,
    send: (body: Buffer | Readable) => Promise<T>,
  ): Promise<T> {
    if (size === 0) return send(Buffer.alloc(0));
    if (pieces.length === 1) return send(pieces[0]);
    const attempts = await this.client.config.maxAttempts();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send(Readable.from(pieces, { objectMode: false }));
      } catch (error) {
        if (attempt >= attempts || signal?.aborted || error instanceof NotSent) throw error;
      }
    }
  }

  /** Checked by every store alike, and what a bucket with Object Lock asks for; another one where it is configured. */
  private checksumOf(
    content: Content,
    known?: Buffer,
  ): { ContentMD5: string } | { ChecksumAlgorithm: ChecksumAlgorithm } {
    const algorithm = this.location.s3_additional_kwargs?.ChecksumAlgorithm;
    return algorithm ? { ChecksumAlgorithm: algorithm } : { ContentMD5: (known ?? md5Of(content)).toString('base64') };
  }

  private objectOptions(key: string, options: PutOptions) {
    const { ObjectLockRetainUntilDate: until, ...given } = this.location.s3_additional_kwargs ?? {};
    return {
      ...given,
      ...(until && { ObjectLockRetainUntilDate: new Date(until) }),
      ...this.place(key),
      ...(options.contentType && { ContentType: options.contentType }),
    };
  }

  private place(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.location.bucket_name, Key: key };
  }
}

/** Has `beforeSending` awaited whenever the client sends the command, also when the client repeats it by itself. */
function guarded<C>(command: C, options: PutOptions): C {
  if (options.beforeSending) {
    // The stacks of all commands are alike but for the types of their input and output.
    (command as PutObjectCommand).middlewareStack.add(
      (next) => async (args) => {
        await whenSending(options);
        return next(args);
      },
      // Nearer to the connection than what repeats the request.
      { step: 'finalizeRequest', priority: 'low', name: 'beforeSending' },
    );
  }
  return command;
}

/** The result of a read, with the answers that are none of its failures. */
async function found<T>(work: () => Promise<T>): Promise<Found<T>> {
  return explained(async () => {
    try {
      return { state: 'found', value: await work() };
    } catch (error) {
      const status = statusOf(error);
      if (status === 404 || status === 416) return { state: 'missing' };
      if (status === 403 || status === 401) return { state: 'forbidden' };
      throw error;
    }
  });
}

async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NotSent) throw error.cause;
    throw error instanceof StoreError ? error : new StoreError(explainS3Error(error), error);
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? error.name : undefined;
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
