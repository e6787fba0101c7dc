import { randomUUID } from 'node:crypto';
import dns, { type LookupOptions } from 'node:dns';
import { ObjectStores } from '../../src/storage/object-stores';
import { Patience } from '../../src/storage/patience';
import type { TenantId } from '../../src/auth/tenant';
import { testConfig } from '../support/config';
import { ExportHarness, Json, TENANT } from '../support/export-harness';
import { testStore } from '../support/exports';
import { TokenService } from '../support/token-service';
import { waitFor } from '../support/wait-for';

const WINDOW = { start_time: '2026-11-20T00:00:00Z', end_time: '2026-11-21T00:00:00Z' };

const ROLE = 'arn:aws:iam::123456789012:role/exports-of-tenants';

let harness: ExportHarness;
const tokens = new TokenService();

beforeAll(async () => {
  harness = await ExportHarness.start({
    GANTRY_EXPORT_AMBIENT_ROLES: 'arn:aws:iam::123456789012:role/exports-*',
    GANTRY_EXPORT_STS_ENDPOINT: await tokens.start(),
    GANTRY_EXPORT_PART_BYTES: String(200 * 1024 * 1024),
    GANTRY_EXPORT_AMBIENT_BUCKETS: testStore().bucket,
  });
});

afterEach(() => {
  harness.proxy.fault = () => undefined;
});

afterAll(async () => {
  await harness?.stop();
  await tokens.stop();
});

async function createLargeRuns(project: string, count: number, bytes: number): Promise<void> {
  await harness.createRuns(project, '2026-11-20', count);
  // Random, so that nothing shrinks: 24 bytes make a line of base64.
  await harness.database.query(
    `UPDATE trace_runs r SET outputs = (
       SELECT '{"text": "' || left(string_agg(md5(random()::text || n || r.run_id), ''), $2) || '🚀\\u0000"}' FROM generate_series(1, $2 / 32 + 1) n)
     WHERE project_id = $1`,
    [project, bytes],
  );
}

/** An export of three rows into a new destination, and what its requests and those of the destination's test carried. */
async function exportInto(body: Json): Promise<{ id: string; requests: ExportHarness['proxy']['seen'] }> {
  const before = harness.proxy.seen.length;
  const created = await harness.call('POST', '/destinations', body);
  expect(created.status).toBe(200);
  const project = await harness.createProject();
  await harness.createRuns(project, '2026-11-20', 3);
  const { id } = await harness.createExport({
    bulk_export_destination_id: created.body.id,
    session_id: project,
    ...WINDOW,
  });
  expect(await harness.ended(id as string)).toMatchObject({ status: 'Completed', progress: { rows_written: 3 } });
  return { id: id as string, requests: harness.proxy.seen.slice(before) };
}

describe('the requests to the store', () => {
  it('have no trailing checksums and no chunked signatures: Google and older stores refuse those', async () => {
    const project = await harness.createProject();
    await harness.createRuns(project, '2026-11-20', 3);
    const before = harness.proxy.seen.length;
    const destination = await harness.createDestination();
    const { id } = await harness.createExport({
      bulk_export_destination_id: destination.id,
      session_id: project,
      ...WINDOW,
    });
    await harness.ended(id);
    const puts = harness.proxy.seen.slice(before).filter(({ method }) => method === 'PUT');
    expect(puts.length).toBeGreaterThanOrEqual(4);
    for (const { headers } of puts) {
      expect(headers['content-md5']).toMatch(/==$/);
      expect(headers['content-length']).toMatch(/^\d+$/);
      expect(Object.keys(headers).filter((name) => /trailer|x-amz-checksum|x-amz-sdk-checksum/.test(name))).toEqual([]);
      expect(headers['content-encoding'] ?? '').not.toContain('aws-chunked');
      expect(headers['x-amz-content-sha256']).not.toMatch(/^STREAMING/);
    }
  });

  it('carry encryption, storage class, ACL, tags, lock and checksum as configured', async () => {
    const project = await harness.createProject();
    await harness.createRuns(project, '2026-11-20', 3);
    // The gateway of the tests has no KMS keys, so the test checks the request.
    harness.proxy.fault = ({ method, headers }) =>
      method === 'PUT' && headers['x-amz-server-side-encryption'] ? 'lose' : undefined;
    const before = harness.proxy.seen.length;
    await harness.createDestination({
      config: {
        s3_additional_kwargs: {
          ServerSideEncryption: 'aws:kms',
          SSEKMSKeyId: 'arn:aws:kms:eu-central-1:111122223333:key/k',
          BucketKeyEnabled: true,
          StorageClass: 'STANDARD_IA',
          ACL: 'bucket-owner-full-control',
          Tagging: 'team=a',
          ChecksumAlgorithm: 'SHA256',
          ObjectLockMode: 'GOVERNANCE',
          ObjectLockRetainUntilDate: '2027-01-01T00:00:00Z',
        },
      },
    });
    const [{ headers }] = harness.proxy.seen.slice(before).filter(({ method }) => method === 'PUT');
    expect(headers).toMatchObject({
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'arn:aws:kms:eu-central-1:111122223333:key/k',
      'x-amz-server-side-encryption-bucket-key-enabled': 'true',
      'x-amz-storage-class': 'STANDARD_IA',
      'x-amz-acl': 'bucket-owner-full-control',
      'x-amz-tagging': 'team=a',
      'x-amz-checksum-sha256': expect.stringMatching(/=$/),
      'x-amz-object-lock-mode': 'GOVERNANCE',
      'x-amz-object-lock-retain-until-date': expect.stringMatching(/^2027-01-01/),
    });
    expect(headers['content-md5']).toBeUndefined();
    const wrong = await harness.call(
      'POST',
      '/destinations',
      harness.destinationBody({ config: { s3_additional_kwargs: { StorageClass: 'COLD' } } }),
    );
    expect(wrong.status).toBe(422);
  });
});

describe('the identity for the store', () => {
  const WHO = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'] as const;
  const usual = WHO.map((name) => [name, process.env[name]] as const);

  afterEach(() => {
    for (const [name, value] of usual) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  it('includes the session token of temporary credentials, which is never shown', async () => {
    // The gateway of the tests gives no temporary credentials, so the test checks the request.
    harness.proxy.fault = () => 'lose';
    const before = harness.proxy.seen.length;
    const credentials = { session_token: 'token-of-a-session' };
    const destination = await harness.createDestination({ credentials });
    const seen = harness.proxy.seen.slice(before);
    expect(seen.length).toBeGreaterThan(0);
    for (const { headers } of seen) expect(headers['x-amz-security-token']).toBe('token-of-a-session');
    expect(destination.credentials_keys).toContain('session_token');
    expect(JSON.stringify(destination)).not.toContain('token-of-a-session');
  });

  it('is that of this process, by the default chain, when a destination has no credentials', async () => {
    const { access_key_id, secret_access_key } = testStore();
    process.env.AWS_ACCESS_KEY_ID = access_key_id;
    process.env.AWS_SECRET_ACCESS_KEY = secret_access_key;
    const { requests } = await exportInto({ ...harness.destinationBody(), credentials: undefined });
    for (const { headers } of requests) expect(headers.authorization).toContain(`Credential=${access_key_id}/`);
  });

  describe('is a role', () => {
    const bodyOf = (role: Json = { aws_role_arn: ROLE }, config: Json = {}): Json => ({
      ...harness.destinationBody({ config }),
      credentials: undefined,
      ...role,
    });

    beforeEach(() => {
      process.env.AWS_ACCESS_KEY_ID = 'identity-of-the-server';
      process.env.AWS_SECRET_ACCESS_KEY = 'its-secret';
      tokens.requests.length = 0;
    });
    afterEach(() => tokens.refuse(undefined));

    it('that the server assumes for this tenant, with its own identity', async () => {
      const { access_key_id, secret_access_key } = testStore();
      tokens.issue({ accessKeyId: access_key_id, secretAccessKey: secret_access_key });
      const { requests } = await exportInto(bodyOf());
      for (const { headers } of requests) expect(headers.authorization).toContain(`Credential=${access_key_id}/`);
      expect(tokens.requests.length).toBeGreaterThan(0);
      for (const { authorization, parameters } of tokens.requests) {
        expect(authorization).toMatch(/Credential=identity-of-the-server\/\d{8}\/[\w-]+\/sts\/aws4_request/);
        expect(parameters).toMatchObject({
          Action: 'AssumeRole',
          RoleArn: ROLE,
          RoleSessionName: `gantry-${TENANT}`,
          ExternalId: TENANT,
        });
      }
    });

    it('whose session token is sent to the store and never shown', async () => {
      tokens.issue({ accessKeyId: 'temporary', secretAccessKey: 's', sessionToken: 'token-of-the-role' });
      harness.proxy.fault = () => 'lose';
      const before = harness.proxy.seen.length;
      const created = await harness.call('POST', '/destinations', bodyOf({}, { aws_role_arn: ROLE }));
      expect([created.status, created.body]).toEqual([
        200,
        expect.objectContaining({ config: expect.objectContaining({ aws_role_arn: ROLE }), credentials_keys: [] }),
      ]);
      for (const { headers } of harness.proxy.seen.slice(before)) {
        expect(headers['x-amz-security-token']).toBe('token-of-the-role');
      }
      expect(JSON.stringify(created.body)).not.toContain('token-of-the-role');
    });

    it('which replaces credentials, and is replaced by credentials', async () => {
      const { access_key_id, secret_access_key } = testStore();
      tokens.issue({ accessKeyId: access_key_id, secretAccessKey: secret_access_key });
      const credentials = { access_key_id, secret_access_key };
      const { id } = await harness.createDestination();
      const assumed = await harness.call('PATCH', `/destinations/${id}`, { aws_role_arn: ROLE });
      expect([assumed.body.config.aws_role_arn, assumed.body.credentials_keys]).toEqual([ROLE, []]);
      const given = await harness.call('PATCH', `/destinations/${id}`, { credentials });
      expect(given.body.config).not.toHaveProperty('aws_role_arn');
      expect(given.body.credentials_keys).toEqual(['access_key_id', 'secret_access_key']);
      for (const both of [{ credentials, aws_role_arn: ROLE }, {}]) {
        expect((await harness.call('PATCH', `/destinations/${id}`, both)).status).toBe(422);
      }
      const created = await harness.call('POST', '/destinations', { ...harness.destinationBody(), aws_role_arn: ROLE });
      expect([created.status, created.body.errors[0].path]).toEqual([422, 'aws_role_arn']);
    });

    it.each<[string, Json, Json, string]>([
      ['is not listed', { aws_role_arn: 'arn:aws:iam::123456789012:role/admin' }, {}, 'GANTRY_EXPORT_AMBIENT_ROLES'],
      ['is for an endpoint of the tenant', {}, { endpoint_url: 'http://127.0.0.1:9' }, 'GANTRY_EXPORT_AMBIENT_ROLES'],
      ['is not a role', { aws_role_arn: 'arn:aws:iam::1:user/x' }, {}, 'aws_role_arn'],
    ])('that is refused without a request when it %s', async (_title, role, config, named) => {
      const { status, body } = await harness.call(
        'POST',
        '/destinations',
        bodyOf({ aws_role_arn: ROLE, ...role }, config),
      );
      expect([400, 422]).toContain(status);
      expect(JSON.stringify(body)).toContain(named);
      expect(tokens.requests).toEqual([]);
    });

    it('that the token service refuses: the answer says what its trust policy needs', async () => {
      tokens.refuse('AccessDenied');
      const { status, body } = await harness.call('POST', '/destinations', bodyOf());
      expect([status, body.detail]).toEqual([400, expect.stringContaining('sts:ExternalId')]);
    });

    it('that the token service gives again after a while: an export waits for it', async () => {
      const { access_key_id, secret_access_key } = testStore();
      tokens.issue({ accessKeyId: access_key_id, secretAccessKey: secret_access_key });
      const created = await harness.call('POST', '/destinations', bodyOf());
      const project = await harness.createProject();
      await harness.createRuns(project, '2026-11-20', 3);
      tokens.refuse('Throttling');
      const { id } = await harness.createExport({
        bulk_export_destination_id: created.body.id,
        session_id: project,
        ...WINDOW,
      });
      const failure = await waitFor(
        'a failure',
        async () => (await harness.runs(id as string))[0]?.errors?.retry_0 as string,
      );
      expect(failure).toMatch(/^The role could not be assumed now/);
      tokens.refuse(undefined);
      expect(await harness.ended(id as string)).toMatchObject({ status: 'Completed', progress: { rows_written: 3 } });
    });

    it('that is requested at no address that the policy forbids', () => {
      const settings = { GANTRY_EXPORT_AMBIENT_ROLES: ROLE, GANTRY_EXPORT_STS_ENDPOINT: 'http://169.254.169.254' };
      const stores = new ObjectStores(testConfig('postgres://nowhere', settings));
      const destination = {
        ...{ bucket_name: 'bucket', prefix: '', region: 'eu-central-1', include_bucket_in_prefix: false },
        aws_role_arn: ROLE,
      };
      expect(() =>
        stores.open(
          TENANT as TenantId,
          { type: 's3', location: destination, credentials: undefined },
          Patience.question,
        ),
      ).toThrow('does not connect to it');
    });
  });

  it.each([
    ['the region of the destination', { region: 'eu-central-1' }, 'eu-central-1'],
    ['us-east-1 where a store of one’s own has none', { region: undefined }, 'us-east-1'],
  ])('signs for %s', async (_, config, region) => {
    harness.proxy.fault = () => 'lose';
    const before = harness.proxy.seen.length;
    await harness.call('POST', '/destinations', harness.destinationBody({ config }));
    const [{ headers }] = harness.proxy.seen.slice(before);
    expect(headers.authorization).toMatch(new RegExp(`Credential=[^/]+/\\d{8}/${region}/s3/aws4_request`));
  });
});

describe('a bucket with Object Lock', () => {
  it('accepts an export, and locks every object of it, including that of the write test', async () => {
    const name = `locked-${randomUUID()}`;
    await harness.bucket.createBucket(name, true);
    try {
      const project = await harness.createProject();
      await harness.createRuns(project, '2026-11-20', 60);
      const destination = await harness.createDestination({
        config: {
          bucket_name: name,
          s3_additional_kwargs: {
            ObjectLockMode: 'GOVERNANCE',
            ObjectLockRetainUntilDate: new Date(Date.now() + 3_600_000).toISOString(),
          },
        },
      });
      const { id } = await harness.createExport({
        bulk_export_destination_id: destination.id,
        session_id: project,
        ...WINDOW,
      });
      expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: 60 } });
      const locks = await harness.bucket.locks(name);
      expect(locks.map(({ key }) => key.split('/').at(-1))).toEqual(
        expect.arrayContaining(['_manifest.json', '_SUCCESS', '2026-11-20-part-00000.parquet']),
      );
      expect(locks.some(({ key }) => key.includes('/tmp/'))).toBe(true);
      for (const lock of locks) expect(lock).toMatchObject({ mode: 'GOVERNANCE', deletion: 'AccessDenied' });
    } finally {
      await harness.bucket.deleteBucket(name);
    }
  });
});

describe('destinations', () => {
  it('have the bucket in the host name where a store requires it', async () => {
    const { bucket } = testStore();
    const { port } = new URL(harness.proxy.url);
    // Names below localhost are this machine (RFC 6761), which not every resolver knows.
    const lookup = dns.lookup as (name: string, options: LookupOptions, callback: () => void) => void;
    const resolver = jest
      .spyOn(dns, 'lookup')
      .mockImplementation(((name, options, callback) =>
        lookup(
          name.endsWith('.localhost') ? 'localhost' : name,
          options,
          callback,
        )) as typeof lookup as typeof dns.lookup);
    try {
      const config = {
        endpoint_url: `http://localhost:${port}`,
        config_kwargs_s3: { addressing_style: 'virtual' },
      };
      const destination = harness.destinationBody({ config });
      const { id, requests } = await exportInto(destination);
      expect(new Set(requests.map(({ headers }) => headers.host))).toEqual(new Set([`${bucket}.localhost:${port}`]));
      expect(requests.filter(({ url }) => url.startsWith(`/${bucket}/`))).toEqual([]);
      expect(await harness.manifest(destination.config.prefix as string, id)).toMatchObject({ rows: 3 });
    } finally {
      resolver.mockRestore();
    }
  });

  it('may have two addresses: the inner one is connected to, the outer one is shown', async () => {
    const project = await harness.createProject();
    const destination = await harness.createDestination({
      config: { external_endpoint_url: 'https://storage.example.com:8443' },
    });
    const { id } = await harness.createExport({
      bulk_export_destination_id: destination.id,
      session_id: project,
      ...WINDOW,
    });
    await harness.ended(id);
    const [run] = await harness.runs(id);
    expect(run.metadata.result.export_url).toBe(
      `https://storage.example.com:8443/${run.metadata.result.export_path as string}`,
    );
    const plain = await harness.createDestination();
    const other = await harness.createExport({ bulk_export_destination_id: plain.id, session_id: project, ...WINDOW });
    await harness.ended(other.id);
    expect((await harness.runs(other.id))[0].metadata.result.export_url).toMatch(
      new RegExp(`^${harness.proxy.url}/${testStore().bucket}/`),
    );
  });

  it.each<[string, Json, string]>([
    [
      'a wrong secret',
      { credentials: { secret_access_key: 'wrong' } },
      'Signature does not match: .*SignatureDoesNotMatch.*Host header',
    ],
    [
      'an unknown key',
      { credentials: { access_key_id: 'nobody' } },
      'Key ID you provided does not exist .*access_key_id',
    ],
    ['an unknown bucket', { config: { bucket_name: 'no-such-bucket' } }, 'Bucket is not valid: .*Check bucket_name'],
  ])('are refused with an explanation: %s', async (_, change, words) => {
    const { status, body } = await harness.call('POST', '/destinations', harness.destinationBody(change));
    expect([status, body.detail]).toEqual([
      400,
      expect.stringMatching(new RegExp(`^Failed to validate S3 destination: ${words}`)),
    ]);
  });

  it('are refused with an explanation of a skewed clock', async () => {
    harness.proxy.fault = () => 'skewed';
    const { body } = await harness.call('POST', '/destinations', harness.destinationBody());
    expect(body.detail).toMatch(/^Failed to validate S3 destination: Clock skew: .*RequestTimeTooSkewed.*NTP/);
  });
});

describe('a file above 64 MiB', () => {
  async function exportLarge(fault: typeof harness.proxy.fault): Promise<{ row: Json; prefix: string; seen: Json[] }> {
    const project = await harness.createProject();
    await createLargeRuns(project, 8, 10 * 1024 * 1024);
    const destination = await harness.createDestination();
    const before = harness.proxy.seen.length;
    harness.proxy.fault = fault;
    const { id } = await harness.createExport({
      bulk_export_destination_id: destination.id,
      session_id: project,
      compression: 'none',
      export_fields: ['id', 'start_time', 'outputs'],
      ...WINDOW,
    });
    const row = await harness.ended(id);
    harness.proxy.fault = () => undefined;
    const { prefix } = destination.config as { prefix: string };
    if (row.status === 'Completed') {
      const read = await harness.read(
        `${prefix}/export_id=${id}`,
        `SELECT id, md5(outputs) AS sum, length(outputs)::int AS length FROM FILES ORDER BY start_time`,
      );
      const { rows } = await harness.database.query(
        `SELECT run_id::text AS id, md5(outputs) AS sum, length(outputs) AS length FROM trace_runs
         WHERE project_id = $1 ORDER BY start_time`,
        [project],
      );
      expect(read).toEqual(rows);
      expect(rows[0].length).toBeGreaterThan(10_000_000);
    }
    return { row, prefix, seen: harness.proxy.seen.slice(before) };
  }

  it('is uploaded in pieces, and contains rows of 10 MB unchanged', async () => {
    const { row, prefix, seen } = await exportLarge(() => undefined);
    expect(row).toMatchObject({ status: 'Completed', progress: { rows_written: 8 } });
    expect(seen.filter(({ url }) => url.includes('partNumber=')).length).toBe(2);
    expect(await harness.bucket.danglingUploads(prefix)).toBe(0);
  });

  it('survives errors, resets in the middle of a piece, and the loss of the last answer', async () => {
    let pieces = 0;
    let completions = 0;
    const faults = ['error', 'reset halfway', 'slow down'] as const;
    const { row, prefix } = await exportLarge(({ method, url }) => {
      if (url?.includes('partNumber=')) return faults[pieces++];
      if (method === 'POST' && url?.includes('uploadId=')) return (completions += 1) === 1 ? 'lose answer' : undefined;
      return undefined;
    });
    expect(row).toMatchObject({ status: 'Completed', progress: { rows_written: 8 } });
    expect(pieces).toBeGreaterThan(2);
    expect(completions).toBeGreaterThan(1);
    expect(await harness.bucket.danglingUploads(prefix)).toBe(0);
  });

  it('leaves no pieces when it is cancelled or refused in the middle', async () => {
    const { row, prefix } = await exportLarge(({ url }) => (url?.includes('partNumber=2') ? 'deny' : undefined));
    expect(row).toMatchObject({ status: 'Failed', error_code: 'AccessDenied' });
    expect(await harness.bucket.danglingUploads(prefix)).toBe(0);
  });
});
