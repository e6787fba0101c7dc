import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ROOT } from './paths.mjs';

/** Settings that name files: api and worker, which work in another folder, get them with their whole paths. */
const FILES = ['TEMPORAL_TLS_CA_PATH', 'TEMPORAL_TLS_CERT_PATH', 'TEMPORAL_TLS_KEY_PATH'];
/** Networks of receivers on this machine, allowed only as long as no other machine can reach the API. */
const LOOPBACK_NETWORKS = '127.0.0.0/8,::1/128';
export const DEFAULT_TENANT_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Every setting of `npm start`, in the order in which --help lists them.
 * @type {{ title: string, settings: [name: string, defaultText: string, help: string][] }[]}
 */
const SECTIONS = [
  {
    title: 'Gantry itself',
    settings: [
      ['GANTRY_PORT', '2024', 'port of the API; a taken one is an error; 0 takes any free one'],
      ['GANTRY_HOST', '127.0.0.1', 'address that the API listens on; another than loopback needs GANTRY_AUTH=on'],
      ['GANTRY_HOME', '.gantry', 'data, logs, secrets.json and, while running, endpoints.json'],
      ['GANTRY_CONFIG', './langgraph.json', "the graphs to serve; without one, the examples' examples/langgraph.json"],
      ['GANTRY_AUTH', 'off', 'on: requests need the API key of the banner (X-API-Key)'],
      ['GANTRY_API_KEY', 'generated', 'that API key, kept in secrets.json when generated'],
      ['GANTRY_TENANT_ID', DEFAULT_TENANT_ID, 'the tenant of that key'],
      ['GANTRY_SECRET_KEY', 'generated', '32 bytes in base64 that encrypt stored credentials; keep it with the data'],
      ['GANTRY_INTERNAL_KEY', 'generated', 'key with which the worker calls the API'],
      ['GANTRY_ADMIN_KEY', 'generated', 'key of the admin API (tenants, keys, audit log)'],
      [
        'GANTRY_EXPORT_ALLOW_CIDRS',
        LOOPBACK_NETWORKS,
        "internal networks that exports may be written to, beside the gateway's; none when GANTRY_HOST is not loopback",
      ],
      [
        'GANTRY_WEBHOOK_ALLOW_CIDRS',
        LOOPBACK_NETWORKS,
        'internal networks that webhooks may be sent to; none by default when GANTRY_HOST is not loopback',
      ],
      ['GANTRY_PYTHON', 'an environment made from "dependencies"', 'interpreter that runs graphs written in Python'],
      ['GANTRY_CACHE', '~/.cache/gantry', 'servers that were downloaded or built, shared by all clones'],
    ],
  },
  {
    title: 'Postgres (embedded unless DATABASE_URL is set)',
    settings: [
      ['DATABASE_URL', '', 'your own database: postgres://user:password@host:5432/name'],
      ['GANTRY_POSTGRES_PORT', '5433', 'port of the embedded one'],
    ],
  },
  {
    title: 'Temporal (embedded unless TEMPORAL_ADDRESS is set)',
    settings: [
      ['TEMPORAL_ADDRESS', '', 'your own server: host:7233'],
      ['TEMPORAL_NAMESPACE', 'default', 'namespace; the embedded server makes it'],
      ['TEMPORAL_API_KEY', '', 'API key for your own server'],
      ['TEMPORAL_TLS', 'false', 'true: connect with TLS (an API key implies it)'],
      ['TEMPORAL_TLS_CA_PATH', '', "file of the server's certificate authority"],
      ['TEMPORAL_TLS_CERT_PATH', '', 'file of the client certificate'],
      ['TEMPORAL_TLS_KEY_PATH', '', 'file of its private key'],
      ['GANTRY_TEMPORAL_PORT', '7233', 'port of the embedded one'],
      ['GANTRY_TEMPORAL_UI_PORT', '', "port of the embedded one's web pages, which ask for no key; none unless set"],
    ],
  },
  {
    title: 'S3 (an embedded gateway unless GANTRY_S3_ENDPOINT is set)',
    settings: [
      ['GANTRY_S3_ENDPOINT', '', 'your own: https://host[:port]'],
      ['GANTRY_S3_BUCKET', 'gantry', 'bucket; the embedded gateway makes it'],
      ['GANTRY_S3_REGION', 'us-east-1', 'region'],
      ['GANTRY_S3_ACCESS_KEY_ID', '', 'access key of your own'],
      ['GANTRY_S3_SECRET_ACCESS_KEY', '', 'its secret'],
      ['GANTRY_S3_PORT', '7070', 'port of the embedded one'],
    ],
  },
];

export function helpText() {
  const sections = SECTIONS.map(({ title, settings }) => {
    const lines = settings.map(([name, fallback, help]) => {
      const tail = fallback ? ` [${fallback}]` : '';
      return `  ${name.padEnd(33)} ${help}${tail}`;
    });
    return `${title}\n${lines.join('\n')}`;
  });
  return `npm start [-- options]

Installs and builds what is missing, then runs Postgres, Temporal, an S3 gateway, the API and a worker on this
machine until Ctrl-C. Data stays in GANTRY_HOME.

Options
  --verbose                         show the whole log of the API and the worker here, not only their errors
  --help                            this text

Settings are environment variables; the value in brackets is used when one is absent.
The ports of embedded parts go to a free one when the usual one is taken; a port that you set is taken or refused.

${sections.join('\n\n')}

The embedded servers are looked for on PATH, then in the cache, then downloaded (Temporal) or built with Go.
Every other variable reaches the API and the worker unchanged; docs/operations.md lists what they read.
`;
}

/** @type {Record<string, 'on' | 'off' | undefined>} */
const SWITCH_POSITIONS = { on: 'on', true: 'on', 1: 'on', off: 'off', false: 'off', 0: 'off' };

/** Lists every problem with the settings, not only the first one. */
export class SettingsError extends Error {
  /** @param {string[]} problems */
  constructor(problems) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** @param {string} host */
function isLoopback(host) {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string} cwd
 */
export function readSettings(env = process.env, cwd = process.cwd()) {
  /** @type {string[]} */
  const problems = [];

  /** @param {string} name @returns {number | undefined} */
  const port = (name) => {
    const text = env[name];
    if (text === undefined || text === '') return undefined;
    if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
    problems.push(`${name}=${text} is not a port: give a number from 0 to 65535 (0 takes any free port).`);
    return undefined;
  };

  /** @param {string} name @param {string[]} protocols */
  const url = (name, protocols) => {
    const text = env[name];
    if (!text) return undefined;
    if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text;
    // The value may hold a password: it is not repeated.
    problems.push(`${name} is not a URL that begins with ${protocols.map((each) => `${each}//`).join(' or ')}.`);
    return undefined;
  };

  const host = env.GANTRY_HOST || '127.0.0.1';
  const auth = SWITCH_POSITIONS[env.GANTRY_AUTH || 'off'];
  if (!auth) problems.push(`GANTRY_AUTH=${env.GANTRY_AUTH} is neither on nor off.`);
  if (auth === 'off' && !isLoopback(host)) {
    problems.push(
      `GANTRY_HOST=${host} would open Gantry to other machines without authentication. Set GANTRY_AUTH=on, ` +
        `or leave GANTRY_HOST at 127.0.0.1.`,
    );
  }

  const temporalAddress = env.TEMPORAL_ADDRESS || undefined;
  if (temporalAddress && !/^\S+:\d+$/.test(temporalAddress)) {
    problems.push(`TEMPORAL_ADDRESS=${temporalAddress} is not of the form host:port, such as 127.0.0.1:7233.`);
  }

  const s3Bucket = env.GANTRY_S3_BUCKET || 'gantry';
  // The embedded gateway serves the folder with that name.
  if (!env.GANTRY_S3_ENDPOINT && !/^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/.test(s3Bucket)) {
    problems.push(
      `GANTRY_S3_BUCKET=${s3Bucket} is not the name of a bucket: 3 to 63 lower-case letters, digits, dots and hyphens.`,
    );
  }

  const settings = {
    host,
    auth: auth ?? 'on',
    port: port('GANTRY_PORT'),
    home: resolve(cwd, env.GANTRY_HOME || '.gantry'),
    config: findConfig(env, cwd, problems),
    files: Object.fromEntries(FILES.flatMap((name) => (env[name] ? [[name, resolve(cwd, env[name])]] : []))),
    // An empty value is valid: it means no internal network.
    exportAllowCidrs: env.GANTRY_EXPORT_ALLOW_CIDRS ?? (isLoopback(host) ? LOOPBACK_NETWORKS : ''),
    webhookAllowCidrs: env.GANTRY_WEBHOOK_ALLOW_CIDRS ?? (isLoopback(host) ? LOOPBACK_NETWORKS : ''),
    tenantId: env.GANTRY_TENANT_ID || DEFAULT_TENANT_ID,
    databaseUrl: url('DATABASE_URL', ['postgres:', 'postgresql:']),
    postgresPort: port('GANTRY_POSTGRES_PORT'),
    temporalAddress,
    temporalNamespace: env.TEMPORAL_NAMESPACE || 'default',
    temporalPort: port('GANTRY_TEMPORAL_PORT'),
    temporalUiPort: port('GANTRY_TEMPORAL_UI_PORT'),
    s3Endpoint: url('GANTRY_S3_ENDPOINT', ['http:', 'https:']),
    s3Bucket,
    s3Region: env.GANTRY_S3_REGION || 'us-east-1',
    s3AccessKeyId: env.GANTRY_S3_ACCESS_KEY_ID || null,
    s3SecretAccessKey: env.GANTRY_S3_SECRET_ACCESS_KEY || null,
    s3Port: port('GANTRY_S3_PORT'),
  };
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
}

/** @typedef {ReturnType<typeof readSettings>} Settings */

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string} cwd
 * @param {string[]} problems
 */
function findConfig(env, cwd, problems) {
  if (env.GANTRY_CONFIG) {
    const path = resolve(cwd, env.GANTRY_CONFIG);
    if (!existsSync(path)) problems.push(`GANTRY_CONFIG=${env.GANTRY_CONFIG}: there is no file ${path}.`);
    return path;
  }
  const own = resolve(cwd, 'langgraph.json');
  return existsSync(own) ? own : resolve(ROOT, 'examples', 'langgraph.json');
}
