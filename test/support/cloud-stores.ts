import { ChildProcess, execFile, spawn } from 'node:child_process';
import { createHmac, createVerify, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { authorizeAzure } from '../../src/storage/azure/azure-authorization';
import { CloudProxy, ProxyAnswer } from './cloud-proxy';
import { endProcess } from './export-worker-process';
import type { Json } from './exports';
import { freePort } from './ports';
import { waitFor } from './wait-for';

const BUCKET = 'exports-of-tests';
const ACCOUNT = 'gantrytests';
const SERVICE_ACCOUNT = 'exports@tests.iam.gserviceaccount.com';

/** An emulator of a cloud's store with one bucket, as tests see it. */
export interface CloudStore {
  proxy: CloudProxy;
  /** A new destination's body, without its prefix. */
  config: Json;
  credentials: Json;
  /** Well-formed credentials that the store doesn't accept. */
  wrongCredentials: Json;
  /** A shared access signature for the container. @param permissions letters, in Azure's order */
  sasToken?: (permissions: string) => string;
  keys(prefix: string): Promise<string[]>;
  read(key: string): Promise<Buffer>;
  write(key: string, body: Buffer): Promise<void>;
}

export interface CloudStores {
  gcs: CloudStore;
  azure_blob: CloudStore;
  /** Copies what is under a prefix into a directory, folders and all. */
  download(store: CloudStore, prefix: string): Promise<string>;
  stop(): Promise<void>;
}

/** Installs the emulators where they aren't yet, and starts them. */
export async function startCloudStores(): Promise<CloudStores> {
  const script = join(__dirname, 'store-emulators.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  const programs = JSON.parse(stdout.trim().split('\n').at(-1)!) as { gcs: string; azure: string };
  const home = await mkdtemp(join(tmpdir(), 'gantry-stores-test-'));
  const processes: ChildProcess[] = [];
  const run = (command: string, args: string[], env: Record<string, string> = {}): void => {
    processes.push(spawn(command, args, { stdio: 'ignore', cwd: home, env: { PATH: process.env.PATH, ...env } }));
  };
  const [gcsPort, azurePort] = [await freePort(), await freePort()];
  const key = randomBytes(64).toString('base64');
  run(programs.gcs, ['-scheme=http', '-host=127.0.0.1', `-port=${gcsPort}`, '-backend=memory', '-log-level=error']);
  run(
    process.execPath,
    [
      programs.azure,
      '--blobHost',
      '127.0.0.1',
      '--blobPort',
      String(azurePort),
      '--inMemoryPersistence',
      '--silent',
    ].concat(['--disableTelemetry', '--skipApiVersionCheck']),
    { AZURITE_ACCOUNTS: `${ACCOUNT}:${key}` },
  );
  const end = async (): Promise<void> => {
    await Promise.all(processes.map((process) => endProcess(process, 'SIGKILL')));
    await rm(home, { recursive: true, force: true });
  };
  const [gcs, azure] = await Promise.all([gcsStore(gcsPort), azureStore(azurePort, key)]).catch(
    async (error: unknown) => {
      await end();
      throw error;
    },
  );
  return {
    gcs,
    azure_blob: azure,
    download: async (store, prefix) => {
      const root = await mkdtemp(join(home, 'download-'));
      for (const name of await store.keys(prefix)) {
        const path = join(root, name.slice(prefix.length));
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, await store.read(name));
      }
      return root;
    },
    stop: async () => {
      gcs.proxy.stop();
      azure.proxy.stop();
      await end();
    },
  };
}

async function gcsStore(port: number): Promise<CloudStore> {
  const pair = () =>
    generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
  const { privateKey, publicKey } = pair();
  const root = `http://127.0.0.1:${port}`;
  const objects = `${root}/storage/v1/b/${BUCKET}/o`;
  await waitFor('the emulator of Google Cloud Storage', () =>
    fetch(`${root}/storage/v1/b?project=tests`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: BUCKET }),
    }).then(
      ({ ok, status }) => ok || status === 409,
      () => false,
    ),
  );
  const keyOf = (private_key: string): Json => ({
    service_account_key: {
      type: 'service_account',
      project_id: 'tests',
      private_key_id: 'key-of-tests',
      private_key,
      client_email: SERVICE_ACCOUNT,
      // Addresses that a key names are never requested, since a tenant chose them.
      token_uri: 'http://169.254.169.254/token',
    },
  });
  const proxy = await new CloudProxy(port, (incoming) => checkToken(incoming, publicKey)).start();
  return {
    proxy,
    config: { bucket_name: BUCKET, endpoint_url: proxy.url },
    credentials: keyOf(privateKey),
    wrongCredentials: keyOf(pair().privateKey),
    keys: async (prefix) => {
      const answer = await fetch(`${objects}?prefix=${encodeURIComponent(prefix)}`);
      const { items = [] } = (await answer.json()) as { items?: { name: string }[] };
      return items.map(({ name }) => name).sort();
    },
    read: async (key) =>
      Buffer.from(await (await fetch(`${objects}/${encodeURIComponent(key)}?alt=media`)).arrayBuffer()),
    write: async (key, body) => {
      const upload = `${root}/upload/storage/v1/b/${BUCKET}/o?uploadType=media&name=${encodeURIComponent(key)}`;
      const answer = await fetch(upload, { method: 'POST', body: new Uint8Array(body) });
      if (!answer.ok) throw new Error(await answer.text());
    },
  };
}

/** Checks a token that a service account has signed itself, as Google does and the emulator doesn't. */
function checkToken({ headers }: IncomingMessage, publicKey: string): ProxyAnswer | undefined {
  const [head = '', claims = '', signature = ''] = (headers.authorization ?? '').replace(/^Bearer /, '').split('.');
  const isSigned = createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url');
  const { iss, sub, scope, exp } = isSigned
    ? (JSON.parse(Buffer.from(claims, 'base64url').toString()) as Json)
    : ({} as Json);
  const isValid =
    iss === SERVICE_ACCOUNT &&
    sub === SERVICE_ACCOUNT &&
    scope === 'https://www.googleapis.com/auth/devstorage.read_write' &&
    exp > Date.now() / 1000;
  if (isValid) return undefined;
  const errors = [{ reason: 'authError', message: 'Invalid Credentials', domain: 'global' }];
  return {
    status: 401,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { code: 401, message: 'Invalid Credentials', errors } }),
  };
}

async function azureStore(port: number, accountKey: string): Promise<CloudStore> {
  const container = `http://127.0.0.1:${port}/${ACCOUNT}/${BUCKET}`;
  const ask = async (method: string, path: string, body?: Buffer): Promise<Response> => {
    const { url, headers } = authorizeAzure(
      ACCOUNT,
      { account_key: accountKey },
      {
        method,
        url: new URL(`${container}${path}`),
        headers: {
          ...(body && { 'x-ms-blob-type': 'BlockBlob' }),
          ...(method === 'PUT' && { 'content-length': String(body?.length ?? 0) }),
        },
      },
    );
    // Headers that fetch sets itself.
    delete headers['content-length'];
    return fetch(url, { method, headers, ...(body && { body: new Uint8Array(body) }) });
  };
  await waitFor('the emulator of Azure Blob Storage', () =>
    ask('PUT', '?restype=container').then(
      ({ status }) => status === 201 || status === 409,
      () => false,
    ),
  );
  const proxy = await new CloudProxy(port).start();
  const pathOf = (key: string): string => `/${key.split('/').map(encodeURIComponent).join('/')}`;
  return {
    proxy,
    config: { account_name: ACCOUNT, container_name: BUCKET, endpoint_url: `${proxy.url}/${ACCOUNT}` },
    credentials: { account_key: accountKey },
    wrongCredentials: { account_key: randomBytes(64).toString('base64') },
    sasToken: (permissions) => sasOf(accountKey, permissions),
    keys: async (prefix) => {
      const answer = await ask('GET', `?restype=container&comp=list&prefix=${encodeURIComponent(prefix)}`);
      return [...(await answer.text()).matchAll(/<Name>([^<]*)<\/Name>/g)].map(([, name]) => name).sort();
    },
    read: async (key) => Buffer.from(await (await ask('GET', pathOf(key))).arrayBuffer()),
    write: async (key, body) => {
      const answer = await ask('PUT', pathOf(key), body);
      if (!answer.ok) throw new Error(await answer.text());
    },
  };
}

/** Signs as "Create a service SAS" in Azure's reference describes it. */
function sasOf(accountKey: string, permissions: string): string {
  const version = '2020-12-06';
  const expiry = `${new Date(Date.now() + 3_600_000).toISOString().slice(0, 19)}Z`;
  const resource = `/blob/${ACCOUNT}/${BUCKET}`;
  // Permissions, start, expiry, resource, identifier, addresses, protocol, version, kind, snapshot, scope, five headers.
  const fields = [permissions, '', expiry, resource, '', '', '', version, 'c', '', '', '', '', '', '', ''];
  const signature = createHmac('sha256', Buffer.from(accountKey, 'base64')).update(fields.join('\n')).digest('base64');
  return new URLSearchParams({ sv: version, sr: 'c', sp: permissions, se: expiry, sig: signature }).toString();
}
