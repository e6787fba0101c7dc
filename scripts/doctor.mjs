// npm run doctor: why is it not working? One line for each check, with what to do about it.
// Looks at the Gantry that runs in GANTRY_HOME, or else at what the environment names.
import { describeRuntime } from './services/runtime.mjs';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { commandLine } from './services/identity.mjs';
import { readJson } from './services/json-file.mjs';
import { ROOT } from './services/paths.mjs';
import { answers, choosePort } from './services/ports.mjs';
import { SettingsError, readSettings } from './services/settings.mjs';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

const TIMEOUT_MS = 5_000;
/** Signatures of S3 requests are refused from 15 minutes on; timers and retention suffer long before. */
const SKEW_WARN_MS = 2_000;
const SKEW_FAIL_MS = 60_000;
/** What browser clients of the API read from answers. */
const EXPOSED_HEADERS = ['content-location', 'x-pagination-total', 'x-pagination-next', 'location'];
const BROWSER_ORIGIN = 'http://localhost:3000';

/** What is found wrong, and what to do about it. */
class Finding extends Error {
  /**
   * @param {string} message
   * @param {string} hint
   * @param {'FAIL' | 'WARN'} [level]
   */
  constructor(message, hint, level = 'FAIL') {
    super(message);
    this.hint = hint;
    this.level = level;
  }
}

let failures = 0;

/**
 * @param {string} name
 * @param {() => Promise<string> | string} look returns what was seen, or throws a Finding
 */
async function check(name, look) {
  const print = (/** @type {string} */ level, /** @type {string} */ text) => {
    process.stdout.write(`${level}  ${name.padEnd(20)} ${text.replaceAll('\n', ' ')}\n`);
  };
  try {
    print('PASS', await look());
  } catch (error) {
    const { level, hint } = error instanceof Finding ? error : { level: 'FAIL', hint: 'see the message' };
    if (level === 'FAIL') failures++;
    print(level, `${error.message} → ${hint}`);
  }
}

/**
 * @param {string} whose
 * @param {number} theirMs
 * @param {number} askedAt
 */
function describeSkew(whose, theirMs, askedAt) {
  // Their clock was read at some moment between the question and the answer.
  const skew = theirMs - (askedAt + Date.now()) / 2;
  const text = `the clock of ${whose} differs by ${(skew / 1000).toFixed(1)} s`;
  const hint = 'let both machines take their time from NTP';
  if (Math.abs(skew) > SKEW_FAIL_MS) throw new Finding(text, hint);
  if (Math.abs(skew) > SKEW_WARN_MS) throw new Finding(text, hint, 'WARN');
  return text;
}

/** @param {string} path */
function checkConfig(path) {
  if (!existsSync(path)) throw new Finding(`there is no ${path}`, 'write a langgraph.json, or set GANTRY_CONFIG to it');
  let config;
  try {
    config = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Finding(`${path}: ${error.message}`, 'correct the JSON');
  }
  const graphs = Object.entries(config.graphs ?? {});
  if (graphs.length === 0) {
    throw new Finding(`${path} declares no graphs`, 'add "graphs": {"agent": "./agent.ts:graph"}');
  }
  for (const [id, graph] of graphs) {
    const spec = typeof graph === 'string' ? graph : graph?.path;
    const [, file] = /^(.+):[^:]+$/.exec(String(spec)) ?? [];
    if (!file) {
      throw new Finding(`${path}: graph "${id}" is ${JSON.stringify(spec)}`, 'write it as "./file.ts:exportedName"');
    }
    if (!existsSync(resolve(dirname(path), file))) {
      throw new Finding(`${path}: graph "${id}" names ${file}, which does not exist`, 'correct the path');
    }
  }
  return `${path}: ${graphs.map(([id]) => id).join(', ')}`;
}

/**
 * @param {import('./services/settings.mjs').Settings} settings
 * @param {any} endpoints
 */
async function checkPorts(settings, endpoints) {
  if (endpoints) {
    const parts = { api: endpoints.api, temporal_ui: endpoints.temporal_ui, s3: endpoints.s3?.endpoint };
    const silent = [];
    for (const [name, url] of Object.entries(parts)) {
      if (!url) continue;
      const { hostname, port, protocol } = new URL(url);
      const usualPort = protocol === 'https:' ? 443 : 80;
      if (!(await answers(Number(port || usualPort), hostname.replace(/^\[|\]$/g, ''))))
        silent.push(`${name} (${url})`);
    }
    if (silent.length === 0) return 'every part answers at its address';
    throw new Finding(`nothing answers for ${silent.join(', ')}`, `look into ${join(settings.home, 'logs')}`);
  }
  const request = { setting: 'GANTRY_PORT', host: settings.host, wanted: settings.port, usual: 2024, strict: true };
  try {
    await choosePort(request);
  } catch (error) {
    throw new Finding(error.message, 'then npm start');
  }
  return `port ${settings.port ?? 2024} is free for the API`;
}

/** @param {string} url */
async function connectDatabase(url) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: TIMEOUT_MS });
  client.on('error', () => {}); // the failing call reports it as well
  try {
    await client.connect();
  } catch (error) {
    const { hostname, port, pathname } = new URL(url);
    const where = `${hostname}:${port || 5432}${pathname}`;
    throw new Finding(
      `no connection to ${where} (${error.code ?? 'error'}: ${error.message})`,
      'check DATABASE_URL, and that the server runs and lets this user in',
    );
  }
  return client;
}

/** @param {import('pg').Client} client */
async function checkDatabase(client) {
  const { rows } = await client.query(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
            current_setting('max_connections')::int AS connections`,
  );
  const [{ version, number, connections }] = rows;
  if (number < 140_000) throw new Finding(`Postgres ${version}`, 'Gantry needs Postgres 14 or later');
  if (connections < 100) {
    throw new Finding(`Postgres ${version}, max_connections ${connections}`, 'raise it to 100 or more', 'WARN');
  }
  return `Postgres ${version}, max_connections ${connections}`;
}

/** @param {import('pg').Client} client */
async function checkDatabaseClock(client) {
  const askedAt = Date.now();
  const { rows } = await client.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now');
  return describeSkew('the database', Number(rows[0].now), askedAt);
}

/** @param {import('pg').Client} client */
async function checkMigrations(client) {
  const directory = join(ROOT, 'dist', 'src', 'database', 'migrations');
  if (!existsSync(directory)) throw new Finding('Gantry is not built', 'npm run build', 'WARN');
  const wanted = readdirSync(directory)
    .filter((name) => /^\d+-.*\.js$/.test(name))
    .map((name) => Number.parseInt(name, 10));
  const { rows: tables } = await client.query(`SELECT to_regclass('migrations') AS name`);
  const applied = tables[0].name ? (await client.query('SELECT timestamp FROM migrations')).rows : [];
  const known = new Set(applied.map(({ timestamp }) => Number(timestamp)));
  const missing = wanted.filter((timestamp) => !known.has(timestamp));
  if (missing.length > 0) {
    throw new Finding(
      `${missing.length} of ${wanted.length} migrations are not applied`,
      'restart npm start, or run npm run migration:run with DATABASE_URL set',
    );
  }
  if (known.size > wanted.length) {
    throw new Finding(
      `the database has ${known.size - wanted.length} migrations that this build does not know`,
      'a newer Gantry has used it: build that version',
    );
  }
  return `all ${wanted.length} are applied`;
}

/**
 * @param {string} address
 * @param {string} namespace
 */
async function checkTemporal(address, namespace) {
  const { Connection } = await import('@temporalio/client');
  const { TEMPORAL_API_KEY: apiKey, TEMPORAL_TLS: tls } = process.env;
  const read = (/** @type {string} */ name) => (process.env[name] ? readFileSync(process.env[name] ?? '') : undefined);
  const [serverRootCACertificate, crt, key] = ['CA', 'CERT', 'KEY'].map((part) => read(`TEMPORAL_TLS_${part}_PATH`));
  const isTls = apiKey || serverRootCACertificate || crt || ['on', 'true', '1'].includes(tls ?? '');
  let connection;
  try {
    connection = await Connection.connect({
      address,
      apiKey,
      connectTimeout: TIMEOUT_MS,
      tls: isTls ? { serverRootCACertificate, clientCertPair: crt && key ? { crt, key } : undefined } : undefined,
    });
  } catch (error) {
    throw new Finding(`no connection to ${address} (${error.message})`, 'check TEMPORAL_ADDRESS and TEMPORAL_TLS');
  }
  try {
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    await connection.workflowService.describeNamespace({ namespace });
    return `server ${serverVersion} at ${address}, namespace ${namespace}`;
  } catch (error) {
    const text = `namespace ${namespace} at ${address}: ${error.details || error.message}`;
    throw new Finding(text, 'make the namespace, or set TEMPORAL_NAMESPACE to one that exists');
  } finally {
    await connection.close();
  }
}

/** @param {import('./services/s3.mjs').S3Endpoint} s3 */
async function checkS3(s3) {
  const { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = s3;
  const client = new S3Client({
    endpoint: s3.endpoint,
    region: s3.region,
    forcePathStyle: true,
    maxAttempts: 1,
    requestHandler: { connectionTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS, throwOnRequestTimeout: true },
    ...(accessKeyId && secretAccessKey && { credentials: { accessKeyId, secretAccessKey } }),
  });
  const target = { Bucket: s3.bucket, Key: `tmp/gantry-doctor-${randomUUID()}` };
  const written = 'written by npm run doctor';
  /** @type {[call: string, run: () => Promise<unknown>][]} */
  const calls = [
    ['PutObject', () => client.send(new PutObjectCommand({ ...target, Body: written }))],
    [
      'GetObject',
      async () => {
        const { Body } = await client.send(new GetObjectCommand(target));
        if ((await Body?.transformToString()) !== written) throw new Error('what was read is not what was written');
      },
    ],
    ['DeleteObject', () => client.send(new DeleteObjectCommand(target))],
  ];
  try {
    for (const [call, run] of calls) {
      try {
        await run();
      } catch (error) {
        const code = error.Code ?? error.code ?? error.name;
        const status = error.$metadata?.httpStatusCode ? `, HTTP ${error.$metadata.httpStatusCode}` : '';
        throw new Finding(
          `${call} on ${s3.endpoint}, bucket ${s3.bucket}: ${code}${status} (${error.message})`,
          `check GANTRY_S3_ENDPOINT, the bucket, and that the key is allowed to do s3:${call}`,
        );
      }
    }
  } finally {
    client.destroy();
  }
  return `wrote, read and deleted an object in bucket ${s3.bucket} on ${s3.endpoint}`;
}

/**
 * @param {string} url
 * @param {RequestInit} [init]
 */
async function request(url, init) {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    const reason = error.cause?.code ?? error.cause?.message ?? error.message;
    throw new Finding(`${init?.method ?? 'GET'} ${url}: ${reason}`, 'is the API running? npm start');
  }
}

/** @param {string} api */
async function checkOk(api) {
  const { status } = await request(`${api}/ok`);
  if (status !== 200) throw new Finding(`GET ${api}/ok answers ${status}`, "look into the API's log");
  return `GET ${api}/ok answers 200`;
}

/** @param {string} api */
async function checkApiClock(api) {
  const askedAt = Date.now();
  const date = (await request(`${api}/ok`)).headers.get('date');
  if (!date) throw new Finding('the API sends no Date header', 'is there a proxy that removes it?', 'WARN');
  // The header has whole seconds: on average half of one is missing.
  return describeSkew('the API', Date.parse(date) + 500, askedAt);
}

/** @param {string} api */
async function checkCors(api) {
  const preflight = await request(`${api}/threads`, {
    method: 'OPTIONS',
    headers: {
      origin: BROWSER_ORIGIN,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-api-key,x-tenant-id',
    },
  });
  const hint = 'a browser page of another origin can not use the API: is there a proxy that removes CORS headers?';
  const allowed = preflight.headers.get('access-control-allow-origin');
  if (!preflight.ok || (allowed !== '*' && allowed !== BROWSER_ORIGIN)) {
    throw new Finding(`the preflight is answered ${preflight.status}, allowed origin ${allowed ?? 'none'}`, hint);
  }
  const answer = await request(`${api}/ok`, { headers: { origin: BROWSER_ORIGIN } });
  const exposed = (answer.headers.get('access-control-expose-headers') ?? '').toLowerCase().split(/\s*,\s*/);
  const hidden = EXPOSED_HEADERS.filter((name) => !exposed.includes(name));
  if (hidden.length > 0) throw new Finding(`pages can not read ${hidden.join(', ')}`, hint);
  return `preflight and exposed headers suit ${BROWSER_ORIGIN}`;
}

/**
 * @param {string} api
 * @param {string | undefined} key
 * @param {string} tenantId
 */
async function checkAuth(api, key, tenantId) {
  const search = (/** @type {Record<string, string>} */ headers) =>
    request(`${api}/assistants/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"limit":1}',
    });
  const { status: withoutKey } = await search({});
  if (withoutKey === 200) {
    const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(api).hostname);
    if (isLocal) return 'off: the API takes requests of this machine without a key';
    throw new Finding(`${api} takes requests without a key`, 'set GANTRY_AUTH=on');
  }
  if (!key) throw new Finding(`a key is necessary (${withoutKey})`, 'set GANTRY_API_KEY to check it', 'WARN');
  const { status: withKey } = await search({ 'x-api-key': key, 'x-tenant-id': tenantId });
  if (withKey === 200) return `on: ${withoutKey} without a key, 200 with it`;
  throw new Finding(`${withKey} with the key and tenant ${tenantId}`, 'check GANTRY_API_KEY and GANTRY_TENANT_ID');
}

/** @param {import('./services/settings.mjs').Settings} settings */
function findRunning({ home }) {
  const endpoints = readJson(join(home, 'endpoints.json'));
  return endpoints && commandLine(endpoints.pids.supervisor).includes('start.mjs') ? endpoints : undefined;
}

/** The S3 service of the environment. @param {import('./services/settings.mjs').Settings} settings */
function s3Of({ s3Endpoint, s3Bucket, s3Region, s3AccessKeyId, s3SecretAccessKey }) {
  if (!s3Endpoint) return undefined;
  const keys = { access_key_id: s3AccessKeyId, secret_access_key: s3SecretAccessKey };
  return { endpoint: s3Endpoint, bucket: s3Bucket, region: s3Region, ...keys };
}

async function main() {
  await check('node', describeRuntime);
  const settings = readSettings();
  const running = findRunning(settings);
  const databaseUrl = running?.postgres ?? settings.databaseUrl;
  const temporal = running?.temporal ?? settings.temporalAddress;
  const s3 = running?.s3 ?? s3Of(settings);
  const api = running?.api ?? process.env.GANTRY_API_URL;

  await check('gantry', () => {
    if (running) return `runs in ${settings.home} (process ${running.pids.supervisor})`;
    const hint = 'npm start; until then only what the environment names is checked';
    throw new Finding(`none runs in ${settings.home}`, hint, 'WARN');
  });
  await check('config', () => checkConfig(settings.config));
  await check('ports', () => checkPorts(settings, running));

  if (databaseUrl) {
    /** @type {import('pg').Client | undefined} */
    let client;
    await check('database', async () => {
      client = await connectDatabase(databaseUrl);
      return checkDatabase(client);
    });
    if (client) {
      const connected = client;
      await check('database migrations', () => checkMigrations(connected));
      await check('database clock', () => checkDatabaseClock(connected));
      await connected.end();
    }
  }
  if (temporal) await check('temporal', () => checkTemporal(temporal, settings.temporalNamespace));
  if (s3) await check('s3', () => checkS3(s3));
  else if (running) {
    await check('s3', () => {
      const hint =
        'install versitygw or Go and start again, or set GANTRY_S3_ENDPOINT; exports go to buckets of their own';
      throw new Finding('there is no S3 service', hint, 'WARN');
    });
  }
  if (api) {
    await check('api', () => checkOk(api));
    await check('api clock', () => checkApiClock(api));
    await check('cors', () => checkCors(api));
    await check('auth', () => checkAuth(api, running?.api_key ?? process.env.GANTRY_API_KEY, settings.tenantId));
  }
}

try {
  await main();
} catch (error) {
  // A wrong setting, or a library that is not there: nothing further can be checked.
  const hint = error.code === 'ERR_MODULE_NOT_FOUND' ? 'npm ci' : 'correct it and run the doctor again';
  const problems = error instanceof SettingsError ? error.problems : [`${error.message} → ${hint}`];
  for (const problem of problems) process.stdout.write(`FAIL  ${'settings'.padEnd(20)} ${problem}\n`);
  failures++;
}
process.stdout.write(failures > 0 ? `\n${failures} failed\n` : '\nNothing is wrong.\n');
process.exit(failures > 0 ? 1 : 0);
