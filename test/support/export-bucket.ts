import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectRetentionCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { testStore } from './exports';

/** Looks into the bucket of the test run with the gateway's own credentials. */
export class ExportBucket {
  private readonly store = testStore();
  private readonly client = new S3Client({
    endpoint: this.store.endpoint,
    region: this.store.region,
    forcePathStyle: true,
    credentials: { accessKeyId: this.store.access_key_id, secretAccessKey: this.store.secret_access_key },
  });
  private readonly directories: string[] = [];

  async keys(prefix: string): Promise<string[]> {
    const keys: string[] = [];
    let token: string | undefined;
    do {
      const page = await this.client.send(
        new ListObjectsV2Command({ Bucket: this.store.bucket, Prefix: prefix, ContinuationToken: token }),
      );
      for (const { Key } of page.Contents ?? []) if (Key && !Key.endsWith('/')) keys.push(Key);
      token = page.NextContinuationToken;
    } while (token);
    return keys.sort();
  }

  async createBucket(name: string, hasObjectLock = false): Promise<void> {
    await this.client.send(new CreateBucketCommand({ Bucket: name, ObjectLockEnabledForBucket: hasObjectLock }));
  }

  async deleteBucket(name: string): Promise<void> {
    const { Contents } = await this.client.send(new ListObjectsV2Command({ Bucket: name }));
    for (const { Key } of Contents ?? []) {
      await this.client.send(new DeleteObjectCommand({ Bucket: name, Key, BypassGovernanceRetention: true }));
    }
    await this.client.send(new DeleteBucketCommand({ Bucket: name }));
  }

  /** The lock of each object of a bucket, and the answer to its deletion. */
  async locks(name: string): Promise<{ key: string; mode?: string; deletion: string }[]> {
    const { Contents = [] } = await this.client.send(new ListObjectsV2Command({ Bucket: name }));
    return Promise.all(
      Contents.flatMap(({ Key }) => (Key && !Key.endsWith('/') ? [Key] : [])).map(async (Key) => {
        const { Retention } = await this.client.send(new GetObjectRetentionCommand({ Bucket: name, Key }));
        const deletion = await this.client.send(new DeleteObjectCommand({ Bucket: name, Key })).then(
          () => 'deleted',
          (error: Error) => error.name,
        );
        return { key: Key, mode: Retention?.Mode, deletion };
      }),
    );
  }

  async danglingUploads(prefix: string): Promise<number> {
    const { Uploads } = await this.client.send(
      new ListMultipartUploadsCommand({ Bucket: this.store.bucket, Prefix: prefix }),
    );
    return Uploads?.length ?? 0;
  }

  async read(key: string): Promise<Buffer> {
    const object = await this.client.send(new GetObjectCommand({ Bucket: this.store.bucket, Key: key }));
    return Buffer.from(await object.Body!.transformToByteArray());
  }

  async write(key: string, body: Buffer): Promise<void> {
    await this.client.send(new PutObjectCommand({ Bucket: this.store.bucket, Key: key, Body: body }));
  }

  async delete(key: string): Promise<void> {
    await this.client.send(new DeleteObjectCommand({ Bucket: this.store.bucket, Key: key }));
  }

  /** Copies what is under a prefix into a directory, folders and all. */
  async download(prefix: string): Promise<string> {
    const root = await mkdtemp(join(tmpdir(), 'gantry-exports-test-'));
    this.directories.push(root);
    for (const key of await this.keys(prefix)) {
      const path = join(root, key.slice(prefix.length));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, await this.read(key));
    }
    return root;
  }

  async close(): Promise<void> {
    this.client.destroy();
    for (const directory of this.directories) await rm(directory, { recursive: true, force: true });
  }
}
