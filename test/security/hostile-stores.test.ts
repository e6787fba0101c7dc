import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { TenantId } from '../../src/auth/tenant';
import { contentOf, type ObjectStore, readText } from '../../src/storage/object-store';
import { ObjectStores, type StoreTarget } from '../../src/storage/object-stores';
import { testConfig } from '../support/config';

const MIB = 1024 * 1024;
/** Bytes that a store sends for each request, unless it is stopped. */
const SENT = 128 * MIB;
/** Bytes that may be in flight when no more is read. */
const READ = 16 * MIB;
const ONCE = { maxAttempts: 1, connectionTimeout: 10_000, answerTimeout: 10_000 };
const TENANT = '0190aaaa-0000-7000-8000-000000000000' as TenantId;

const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const SERVICE_ACCOUNT = {
  type: 'service_account' as const,
  private_key_id: undefined,
  client_email: 'a@b.iam.gserviceaccount.com',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
};

const TARGETS: Record<StoreTarget['type'], (endpoint_url: string) => StoreTarget> = {
  s3: (endpoint_url) => ({
    type: 's3',
    location: { bucket_name: 'bucket', region: 'us-east-1', endpoint_url },
    credentials: { access_key_id: 'a', secret_access_key: 'b' },
  }),
  gcs: (endpoint_url) => ({
    type: 'gcs',
    location: { bucket_name: 'bucket', endpoint_url },
    credentials: { service_account_key: SERVICE_ACCOUNT },
  }),
  azure_blob: (endpoint_url) => ({
    type: 'azure_blob',
    location: { account_name: 'account', container_name: 'bucket', endpoint_url },
    credentials: { account_key: Buffer.from('key').toString('base64') },
  }),
};

describe.each(Object.keys(TARGETS) as StoreTarget['type'][])(
  "a tenant's store of type %s that answers without end",
  (type) => {
    let server: Server;
    let store: ObjectStore;
    let status = 200;
    let headers: Record<string, string> = {};
    let sent = 0;

    beforeAll(async () => {
      const piece = Buffer.alloc(64 * 1024, 'x');
      const pieces = function* (): Generator<Buffer> {
        for (const end = sent + SENT; sent < end; sent += piece.length) yield piece;
      };
      server = createServer((request, response) => {
        request.resume();
        response.writeHead(status, { 'content-type': 'application/xml', ...headers });
        Readable.from(pieces()).pipe(response);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const stores = new ObjectStores(testConfig('postgres://nowhere', { GANTRY_EXPORT_ALLOW_CIDRS: '127.0.0.0/8' }));
      store = stores.open(TENANT, TARGETS[type](`http://127.0.0.1:${port}`), ONCE);
    });

    beforeEach(() => {
      sent = 0;
      headers = {};
    });

    afterAll(async () => {
      store?.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });

    it.each([200, 403, 404, 500])('is read to a limit when it says %i to a write or a deletion', async (said) => {
      status = said;
      await store.put('key', contentOf(Buffer.from('x'))).catch(() => undefined);
      await store.delete(['key']).catch(() => undefined);
      await store.delete(['one', 'two']).catch(() => undefined);
      expect(sent).toBeGreaterThan(0);
      expect(sent).toBeLessThan(READ * 4);
    });

    it.each([403, 404, 500])('is read to a limit when it says %i to a read', async (said) => {
      status = said;
      await readText(store, 'key').catch(() => undefined);
      await store.readRange('key', 0, 100).catch(() => undefined);
      expect(sent).toBeGreaterThan(0);
      expect(sent).toBeLessThan(READ * 2);
    });

    it('is read to a limit when a part or a small object was asked for', async () => {
      status = 206;
      headers = { 'content-range': 'bytes 0-99/100' };
      await expect(store.readRange('key', 0, 100)).rejects.toThrow();
      expect(sent).toBeLessThan(READ);
      status = 200;
      headers = {};
      await expect(readText(store, 'key')).rejects.toThrow();
      expect(sent).toBeLessThan(READ + 64 * MIB);
    });

    it('may answer with the whole of an object, of which a part was asked for', async () => {
      status = 200;
      const range = await store.readRange('key', SENT - 10, SENT - 5);
      expect(range).toMatchObject({ state: 'found', value: { size: SENT } });
      expect(range.state === 'found' && Buffer.from(range.value.data).toString()).toBe('xxxxx');
    });
  },
);
