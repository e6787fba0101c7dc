import { createHash, randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../../src/auth/tenant';
import { contentOf, ObjectStore, readText } from '../../src/storage/object-store';
import { ObjectStores, StoreTarget } from '../../src/storage/object-stores';
import { Patience } from '../../src/storage/patience';
import { CloudStores, startCloudStores } from '../support/cloud-stores';
import { testConfig } from '../support/config';
import { TENANT } from '../support/export-harness';
import { testStore } from '../support/exports';

const MIB = 1024 * 1024;

let clouds: CloudStores;
let stores: ObjectStores;

beforeAll(async () => {
  // The first start builds and installs the emulators.
  clouds = await startCloudStores();
  stores = new ObjectStores(testConfig('postgres://nowhere'));
}, 900_000);

afterAll(async () => {
  await clouds?.stop();
});

function targetOf(type: StoreTarget['type'], change: object = {}): StoreTarget {
  if (type === 's3') {
    const { endpoint, bucket, region, access_key_id, secret_access_key } = testStore();
    const location = { bucket_name: bucket, region, endpoint_url: endpoint };
    return { type, location, credentials: { access_key_id, secret_access_key, ...change } };
  }
  const { config, credentials } = clouds[type];
  return { type, location: config, credentials: { ...credentials, ...change } } as StoreTarget;
}

describe.each(['s3', 'gcs', 'azure_blob'] as const)('an object store of type %s', (type) => {
  let store: ObjectStore;
  const folder = `stores/${uuidv7()}`;
  const text = 'ä b+c%20d';

  beforeAll(() => {
    store = stores.open(TENANT as TenantId, targetOf(type), Patience.work);
  });
  afterAll(() => store?.close());

  it('stores what was written to it, under any name, and replaces it', async () => {
    const key = `${folder}/year=2026/ä b+c%20&#?.txt`;
    await store.put(key, contentOf(Buffer.from('before')));
    const pieces = [Buffer.from(text.slice(0, 3)), Buffer.from(text.slice(3))];
    const size = Buffer.byteLength(text);
    await store.put(key, { pieces, size }, { contentType: 'text/plain' });
    expect(await store.head(key)).toEqual({ state: 'found', value: size });
    expect(await readText(store, key)).toEqual({ state: 'found', value: text });
    const md5 = createHash('md5').update(text).digest('hex');
    expect(await store.checksum(key)).toEqual({ state: 'found', value: md5 });
    const range = await store.readRange(key, 1, 4);
    expect(range).toMatchObject({ state: 'found', value: { size } });
    expect(range.state === 'found' && Buffer.from(range.value.data)).toEqual(Buffer.from(text).subarray(1, 4));
  });

  it('stores an empty object', async () => {
    await store.put(`${folder}/_SUCCESS`, contentOf(Buffer.alloc(0)));
    expect(await store.head(`${folder}/_SUCCESS`)).toEqual({ state: 'found', value: 0 });
  });

  it('stores a large object, which it receives in several requests', async () => {
    const key = `${folder}/large`;
    const piece = randomBytes(MIB);
    const content = { pieces: Array.from({ length: 65 }, () => piece), size: 65 * MIB };
    await store.put(key, content);
    const hash = createHash('md5');
    for (const each of content.pieces) hash.update(each);
    expect(await store.head(key)).toEqual({ state: 'found', value: content.size });
    expect(await store.checksum(key)).toEqual({ state: 'found', value: hash.digest('hex') });
    expect(await store.delete([key])).toEqual([]);
  });

  it('reports a missing object', async () => {
    const key = `${folder}/missing`;
    expect(await store.head(key)).toEqual({ state: 'missing' });
    expect(await store.read(key)).toEqual({ state: 'missing' });
    expect(await store.readRange(key, 0, 10)).toEqual({ state: 'missing' });
    expect(await store.checksum(key)).toEqual({ state: 'missing' });
  });

  it('deletes, also what does not exist', async () => {
    const keys = [1, 2, 3].map((n) => `${folder}/deleted-${n}`);
    await Promise.all(keys.map((key) => store.put(key, contentOf(Buffer.from('x')))));
    expect(await store.delete(keys.slice(0, 1))).toEqual([]);
    expect(await store.delete([...keys, `${folder}/missing`])).toEqual([]);
    expect(await store.head(keys[2])).toEqual({ state: 'missing' });
  });

  it('stops when it is aborted', async () => {
    const signal = AbortSignal.abort();
    await expect(store.put(`${folder}/aborted`, contentOf(Buffer.from('x')), { signal })).rejects.toThrow();
    expect(await store.head(`${folder}/aborted`)).toEqual({ state: 'missing' });
  });

  it('explains wrong credentials, and reports forbidden reads as such', async () => {
    const wrong = type === 's3' ? { access_key_id: 'nobody' } : clouds[type].wrongCredentials;
    const other = stores.open(TENANT as TenantId, targetOf(type, wrong), Patience.question);
    try {
      await expect(other.put(`${folder}/wrong`, contentOf(Buffer.from('x')))).rejects.toMatchObject({
        name: 'StoreError',
        problem: { isUserFault: true, hint: expect.stringMatching(/^Check .*\.$/) },
      });
    } finally {
      other.close();
    }
  });
});

describe.each(['gcs', 'azure_blob'] as const)('an object that a store of type %s fails to delete', (type) => {
  afterEach(() => {
    clouds[type].proxy.fault = () => undefined;
  });

  it.each([429, 503])('is not taken for one that it keeps: %i may pass', async (status) => {
    const store = stores.open(TENANT as TenantId, targetOf(type), { ...Patience.question, maxAttempts: 1 });
    clouds[type].proxy.fault = ({ method }) => (method === 'DELETE' ? { status } : undefined);
    try {
      await expect(store.delete([`stores/${uuidv7()}`])).rejects.toMatchObject({
        name: 'StoreError',
        problem: { isUserFault: false },
      });
    } finally {
      store.close();
    }
  });
});

describe('Azure’s shared access signatures', () => {
  it('allow the writes that they permit, and forbid the reads that they do not', async () => {
    const { sasToken } = clouds.azure_blob;
    const store = stores.open(
      TENANT as TenantId,
      {
        ...(targetOf('azure_blob') as Extract<StoreTarget, { type: 'azure_blob' }>),
        credentials: { sas_token: sasToken!('cw') },
      },
      Patience.question,
    );
    const key = `stores/${uuidv7()}`;
    try {
      await store.put(key, contentOf(Buffer.from('x')));
      expect(await store.head(key)).toEqual({ state: 'forbidden' });
      expect(await store.readRange(key, 0, 1)).toEqual({ state: 'forbidden' });
      expect(await store.delete([key])).toEqual([key]);
    } finally {
      store.close();
    }
  });
});
