import { createHash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  ChecksumAlgorithm,
  CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { DestinationConfig } from './destinations/destinations.schemas';

/**
 * Up to this size an object is one PUT: one permission, and nothing dangling when it fails. Above it the pieces of a
 * multipart upload have this size, which at the 10,000 pieces that S3 allows is enough for 640 GiB.
 */
const PIECE_BYTES = 64 * 1024 * 1024;

export interface PutOptions {
  contentType?: string;
  /** MD5 of the whole object, where it is known already. */
  md5?: Buffer;
  signal?: AbortSignal;
}

/** One bucket of one destination, and the objects under its prefix. */
export class ObjectStore {
  constructor(
    private readonly client: S3Client,
    private readonly config: DestinationConfig,
  ) {}

  /** Writes an object. It appears whole or not at all, and a repetition with the same bytes changes nothing. */
  async put(key: string, body: Buffer, options: PutOptions = {}): Promise<void> {
    if (body.length > PIECE_BYTES) return this.putInPieces(key, body, options);
    await this.client.send(
      new PutObjectCommand({
        ...this.objectOptions(key, options),
        Body: body,
        ContentLength: body.length,
        ...this.checksumOf(body, options.md5),
      }),
      { abortSignal: options.signal },
    );
  }

  /** Size of an object, or undefined where reading isn't permitted. Null when it isn't there. */
  async size(key: string, signal?: AbortSignal): Promise<number | null | undefined> {
    try {
      const head = await this.client.send(new HeadObjectCommand({ Bucket: this.config.bucket_name, Key: key }), {
        abortSignal: signal,
      });
      return head.ContentLength;
    } catch (error) {
      const status = statusOf(error);
      if (status === 404) return null;
      if (status === 403 || status === 401) return undefined;
      throw error;
    }
  }

  /**
   * Part of an object, `from` inclusive, `to` exclusive, with the size of all of it. Undefined where reading isn't
   * permitted, null when there is no such object or it ends before `from`.
   */
  async readRange(
    key: string,
    from: number,
    to: number,
    signal?: AbortSignal,
  ): Promise<{ data: Uint8Array; size: number } | null | undefined> {
    try {
      const object = await this.client.send(
        new GetObjectCommand({ Bucket: this.config.bucket_name, Key: key, Range: `bytes=${from}-${to - 1}` }),
        { abortSignal: signal },
      );
      const data = (await object.Body?.transformToByteArray()) ?? new Uint8Array();
      const whole = /\/(\d+)$/.exec(object.ContentRange ?? '')?.[1];
      // A store that knows no ranges answers with everything.
      return whole ? { data, size: Number(whole) } : { data: data.subarray(from, to), size: data.length };
    } catch (error) {
      const status = statusOf(error);
      if (status === 404 || status === 416) return null;
      if (status === 403 || status === 401) return undefined;
      throw error;
    }
  }

  /** An object as text, with the same answers as `readRange` where there is none to be had. */
  async readText(key: string, signal?: AbortSignal): Promise<string | null | undefined> {
    try {
      const object = await this.client.send(new GetObjectCommand({ Bucket: this.config.bucket_name, Key: key }), {
        abortSignal: signal,
      });
      return (await object.Body?.transformToString()) ?? '';
    } catch (error) {
      const status = statusOf(error);
      if (status === 404) return null;
      if (status === 403 || status === 401) return undefined;
      throw error;
    }
  }

  /** The MD5 of an object's bytes, as hex; undefined where it can't be read. */
  async md5(key: string, signal?: AbortSignal): Promise<string | undefined> {
    try {
      const object = await this.client.send(new GetObjectCommand({ Bucket: this.config.bucket_name, Key: key }), {
        abortSignal: signal,
      });
      const hash = createHash('md5');
      for await (const piece of object.Body as AsyncIterable<Uint8Array>) hash.update(piece);
      return hash.digest('hex');
    } catch (error) {
      const status = statusOf(error);
      if (status === 404 || status === 403 || status === 401) return undefined;
      throw error;
    }
  }

  /** Deletes an object; a store that doesn't permit it keeps it. */
  async deleteIfPermitted(key: string): Promise<void> {
    try {
      await this.client.send(new DeleteObjectCommand({ Bucket: this.config.bucket_name, Key: key }));
    } catch (error) {
      if (statusOf(error) === undefined) throw error;
    }
  }

  close(): void {
    this.client.destroy();
  }

  private async putInPieces(key: string, body: Buffer, options: PutOptions): Promise<void> {
    const target = { Bucket: this.config.bucket_name, Key: key };
    const { UploadId } = await this.client.send(new CreateMultipartUploadCommand(this.objectOptions(key, options)), {
      abortSignal: options.signal,
    });
    try {
      const Parts: CompletedPart[] = [];
      for (let offset = 0; offset < body.length; offset += PIECE_BYTES) {
        const piece = body.subarray(offset, offset + PIECE_BYTES);
        const PartNumber = Parts.length + 1;
        const { ETag, ChecksumCRC32, ChecksumCRC32C, ChecksumSHA1, ChecksumSHA256 } = await this.client.send(
          new UploadPartCommand({
            ...target,
            UploadId,
            PartNumber,
            Body: piece,
            ContentLength: piece.length,
            ...this.checksumOf(piece),
          }),
          { abortSignal: options.signal },
        );
        Parts.push({ ETag, PartNumber, ChecksumCRC32, ChecksumCRC32C, ChecksumSHA1, ChecksumSHA256 });
      }
      await this.client.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }), {
        abortSignal: options.signal,
      });
    } catch (error) {
      // The answer to the last request may be lost, and the client's repetition finds the upload gone: it is complete.
      if (codeOf(error) === 'NoSuchUpload' && (await this.size(key, options.signal)) === body.length) return;
      // Where aborting isn't permitted the bucket's own lifecycle rule clears the pieces; the error is the upload's.
      await this.client.send(new AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => undefined);
      throw error;
    }
  }

  /** Checked by every store alike, and what a bucket with Object Lock asks for; another one where it is configured. */
  private checksumOf(body: Buffer, known?: Buffer): { ContentMD5: string } | { ChecksumAlgorithm: ChecksumAlgorithm } {
    const algorithm = this.config.s3_additional_kwargs?.ChecksumAlgorithm;
    return algorithm ? { ChecksumAlgorithm: algorithm } : { ContentMD5: (known ?? md5(body)).toString('base64') };
  }

  private objectOptions(key: string, options: PutOptions) {
    const { ObjectLockRetainUntilDate: until, ...given } = this.config.s3_additional_kwargs ?? {};
    return {
      ...given,
      ...(until && { ObjectLockRetainUntilDate: new Date(until) }),
      Bucket: this.config.bucket_name,
      Key: key,
      ...(options.contentType && { ContentType: options.contentType }),
    };
  }
}

function md5(body: Buffer): Buffer {
  return createHash('md5').update(body).digest();
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? error.name : undefined;
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
