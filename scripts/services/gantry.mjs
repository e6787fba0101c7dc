import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres, startS3, startTemporal, untilReachable } from './backing-services.mjs';
import { NoGatewayError } from './binaries.mjs';
import { printBanner } from './banner.mjs';
import { build, installDependencies } from './build.mjs';
import { findPythonOrDoWithout } from './graph-python.mjs';
import { openHome } from './home.mjs';
import { writeJsonAtomically } from './json-file.mjs';
import { ALLOCATOR, returnMemoryOfStart } from './memory.mjs';
import { showOwnLog } from './own-log.mjs';
import { ROOT } from './paths.mjs';
import { choosePort, connectHost } from './ports.mjs';
import { runCommand } from './process.mjs';
import { say } from './progress.mjs';
import { loadSecrets } from './secrets.mjs';
import { Supervisor } from './supervisor.mjs';

const LOOPBACK = '127.0.0.1';
const API_READY_MS = 60_000;
const WORKER_READY_MS = 60_000;

/**
 * Gantry's own code, as Node scripts.
 * @typedef {{ migrate: string, api: string, worker: string, build: (signal: AbortSignal) => Promise<void> }} Program
 */

/** @type {Program} */
const GANTRY = {
  migrate: join(ROOT, 'dist', 'src', 'database', 'migrate.js'),
  api: join(ROOT, 'dist', 'src', 'main.js'),
  worker: join(ROOT, 'dist', 'worker', 'main.js'),
  build,
};

/** @param {import('./settings.mjs').Settings} settings */
async function choosePorts(settings) {
  const { host, port, postgresPort, temporalPort, temporalUiPort, s3Port } = settings;
  const loopback = (
    /** @type {string} */ setting,
    /** @type {number | undefined} */ wanted,
    /** @type {number} */ usual,
  ) => choosePort({ setting, host: LOOPBACK, wanted, usual });
  // One after the other, so that the first wrong one is reported.
  const api = await choosePort({ setting: 'GANTRY_PORT', host, wanted: port, usual: 2024, strict: true });
  const postgres = settings.databaseUrl ? 0 : await loopback('GANTRY_POSTGRES_PORT', postgresPort, 5433);
  const temporal = settings.temporalAddress ? 0 : await loopback('GANTRY_TEMPORAL_PORT', temporalPort, 7233);
  const hasUi = !settings.temporalAddress && temporalUiPort !== undefined;
  const temporalUi = hasUi ? await loopback('GANTRY_TEMPORAL_UI_PORT', temporalUiPort, 8233) : null;
  const s3 = settings.s3Endpoint ? 0 : await loopback('GANTRY_S3_PORT', s3Port, 7070);
  return { api, postgres, temporal, temporalUi, s3 };
}

/** @typedef {Awaited<ReturnType<typeof choosePorts>>} Ports */

/**
 * Postgres, Temporal and S3: started here, or the user's own.
 * @param {import('./settings.mjs').Settings} settings
 * @param {Ports} ports
 * @param {import('./secrets.mjs').Secrets} secrets
 * @param {import('./backing-services.mjs').Context} context
 */
async function bringUpServices(settings, ports, secrets, context) {
  const { signal } = context;

  const postgres = async () => {
    if (!settings.databaseUrl) {
      return startPostgres(context, { port: ports.postgres, password: secrets.postgres_password });
    }
    const { hostname, port } = new URL(settings.databaseUrl);
    await untilReachable({ setting: 'DATABASE_URL', host: hostname, port: Number(port || 5432), signal });
    return settings.databaseUrl;
  };

  const temporal = async () => {
    if (!settings.temporalAddress) {
      const { temporal: port, temporalUi: uiPort } = ports;
      return startTemporal(context, { port, uiPort, namespace: settings.temporalNamespace });
    }
    const colon = settings.temporalAddress.lastIndexOf(':');
    const host = settings.temporalAddress.slice(0, colon);
    const port = Number(settings.temporalAddress.slice(colon + 1));
    await untilReachable({ setting: 'TEMPORAL_ADDRESS', host, port, signal });
    return { address: settings.temporalAddress, uiUrl: null };
  };

  const s3 = async () => {
    const { s3Bucket: bucket, s3Region: region } = settings;
    if (!settings.s3Endpoint) {
      const { s3_access_key_id: accessKeyId, s3_secret_access_key: secretAccessKey } = secrets;
      return startS3(context, { port: ports.s3, bucket, region, accessKeyId, secretAccessKey }).catch((error) => {
        if (!(error instanceof NoGatewayError)) throw error;
        say('s3', error.message);
        return null;
      });
    }
    const { hostname, port, protocol } = new URL(settings.s3Endpoint);
    const usualPort = protocol === 'https:' ? 443 : 80;
    await untilReachable({ setting: 'GANTRY_S3_ENDPOINT', host: hostname, port: Number(port || usualPort), signal });
    return {
      endpoint: settings.s3Endpoint,
      bucket,
      region,
      access_key_id: settings.s3AccessKeyId,
      secret_access_key: settings.s3SecretAccessKey,
    };
  };

  const [databaseUrl, { address, uiUrl }, s3Endpoint] = await Promise.all([postgres(), temporal(), s3()]);
  return { databaseUrl, temporalAddress: address, temporalUiUrl: uiUrl, s3: s3Endpoint };
}

/** Keys that only the api checks. The worker doesn't get them, since graph code is closest to its memory. */
const API_ONLY = ['GANTRY_API_KEY', 'GANTRY_ADMIN_KEY'];

/** @param {NodeJS.ProcessEnv} env @param {string[]} names */
function without(env, names) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

/** @param {string | undefined} seconds @param {number} usual */
function milliseconds(seconds, usual) {
  return Number(seconds || usual) * 1000;
}

/**
 * Resolves when the process says that it is ready, or has ended.
 * @param {import('./process.mjs').RunningPart} child
 * @param {number} timeoutMs
 */
async function reported(child, timeoutMs) {
  const tooLate = new AbortController();
  const timer = sleep(timeoutMs, undefined, { signal: tooLate.signal }).then(() => {
    throw new Error(`has not reported to be ready for ${timeoutMs / 1000} s`);
  });
  await Promise.race([child.message('ready'), child.exited, timer]).finally(() => {
    timer.catch(() => {}); // the abort below rejects it, which reports nothing
    tooLate.abort();
  });
}

/**
 * A process of Gantry's own.
 * @param {string} name
 * @param {string} script
 * @param {NodeJS.ProcessEnv} env
 * @param {Pick<import('./process.mjs').Part, 'stopGraceMs' | 'ready'>} rest
 * @returns {import('./process.mjs').Part}
 */
function ownPart(name, script, env, rest) {
  const { execPath: command } = process;
  return { name, command, args: [script], marker: script, env, cwd: ROOT, ipc: true, stopSignal: 'SIGTERM', ...rest };
}

/**
 * @param {string} apiUrl
 * @param {string} script
 * @param {NodeJS.ProcessEnv} env
 */
function apiPart(apiUrl, script, env) {
  return ownPart('api', script, env, {
    stopGraceMs:
      5_000 + milliseconds(env.GANTRY_DRAIN_DELAY_SECONDS, 0) + milliseconds(env.GANTRY_DRAIN_TIMEOUT_SECONDS, 5),
    ready: async (child) => {
      const deadline = Date.now() + API_READY_MS;
      await reported(child, API_READY_MS);
      while (!child.exit) {
        const problem = await fetch(`${apiUrl}/ok`, { signal: AbortSignal.timeout(5_000) }).then(
          ({ status }) => (status === 200 ? undefined : `it answers ${status}`),
          (error) => error.cause?.code ?? error.message,
        );
        if (!problem) return;
        if (Date.now() > deadline) throw new Error(`GET /ok has not answered 200 for 60 s (${problem})`);
        await sleep(50);
      }
    },
  });
}

/**
 * @param {string} script
 * @param {NodeJS.ProcessEnv} env
 */
function workerPart(script, env) {
  return ownPart('worker', script, env, {
    // The worker's own drain takes up to 5 s more than the two.
    stopGraceMs:
      10_000 +
      milliseconds(env.GANTRY_HAND_BACK_AFTER_SECONDS, 0) +
      milliseconds(env.GANTRY_SHUTDOWN_GRACE_SECONDS, 15),
    ready: (child) => reported(child, WORKER_READY_MS),
  });
}

/** @param {string} host @param {number} port */
function httpUrl(host, port) {
  const reachable = connectHost(host);
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** @param {import('./s3.mjs').S3Endpoint | null} s3 */
function s3Settings(s3) {
  return {
    GANTRY_S3_ENDPOINT: s3?.endpoint ?? '',
    GANTRY_S3_BUCKET: s3?.bucket ?? '',
    GANTRY_S3_REGION: s3?.region ?? '',
    GANTRY_S3_ACCESS_KEY_ID: s3?.access_key_id ?? '',
    GANTRY_S3_SECRET_ACCESS_KEY: s3?.secret_access_key ?? '',
  };
}

/**
 * Runs a Gantry until `signal` says stop.
 * @param {import('./settings.mjs').Settings} settings
 * @param {{ signal: AbortSignal, stopNow: AbortSignal, isVerbose?: boolean, program?: Program }} options
 * `stopNow` shortens a stop that takes too long for the user.
 */
export async function runGantry(settings, { signal, stopNow, isVerbose = false, program = GANTRY }) {
  const { home } = settings;
  const lock = await openHome(home, signal);
  const endpointsPath = join(home, 'endpoints.json');
  /** @type {() => void} */
  let writeEndpoints = () => {};
  // Also aborted when one step fails, so that the other steps don't continue.
  const giveUp = new AbortController();
  const context = { home, signal: AbortSignal.any([signal, giveUp.signal]) };
  const supervisor = new Supervisor({
    home,
    logs: join(home, 'logs'),
    signal: context.signal,
    onLine: showOwnLog(isVerbose),
    onRestart: () => writeEndpoints(),
  });
  stopNow.addEventListener('abort', () => supervisor.stopNow(), { once: true });

  try {
    const ports = await choosePorts(settings);
    const secrets = loadSecrets(home);
    const apiUrl = httpUrl(settings.host, ports.api);

    const installed = installDependencies(context.signal);
    const [services, python] = await Promise.all([
      bringUpServices(settings, ports, secrets, { ...context, supervisor, installed }),
      process.env.GANTRY_PYTHON || findPythonOrDoWithout(settings.config, { signal: context.signal }),
      installed.then(() => program.build(context.signal)),
    ]);

    const apiKey = process.env.GANTRY_API_KEY || secrets.api_key;
    const env = {
      ...ALLOCATOR,
      ...process.env,
      ...settings.files,
      DATABASE_URL: services.databaseUrl,
      TEMPORAL_ADDRESS: services.temporalAddress,
      TEMPORAL_NAMESPACE: settings.temporalNamespace,
      ...(services.temporalUiUrl && { GANTRY_TEMPORAL_UI_URL: services.temporalUiUrl }),
      GANTRY_HOST: settings.host,
      GANTRY_PORT: String(ports.api),
      GANTRY_HOME: home,
      GANTRY_CONFIG: settings.config,
      ...(python && { GANTRY_PYTHON: python }),
      ...s3Settings(services.s3),
      GANTRY_AUTH: settings.auth,
      GANTRY_API_URL: apiUrl,
      GANTRY_API_KEY: apiKey,
      GANTRY_TENANT_ID: settings.tenantId,
      GANTRY_SECRET_KEY: process.env.GANTRY_SECRET_KEY || secrets.secret_key,
      GANTRY_EXPORT_ALLOW_CIDRS: settings.exportAllowCidrs,
      GANTRY_WEBHOOK_ALLOW_CIDRS: settings.webhookAllowCidrs,
      GANTRY_INTERNAL_KEY: process.env.GANTRY_INTERNAL_KEY || secrets.internal_key,
      GANTRY_ADMIN_KEY: process.env.GANTRY_ADMIN_KEY || secrets.admin_key,
    };

    await runCommand(process.execPath, [program.migrate], { cwd: ROOT, env, signal: context.signal });
    say('database', 'migrations are applied');
    await Promise.all([
      supervisor.start(apiPart(apiUrl, program.api, env)).then(() => say('api', `answers at ${apiUrl}`)),
      supervisor.start(workerPart(program.worker, without(env, API_ONLY))).then(() => say('worker', 'is ready')),
    ]);

    const endpoints = {
      api: apiUrl,
      docs: `${apiUrl}/docs`,
      console: ['off', 'false', '0'].includes(process.env.GANTRY_CONSOLE ?? '') ? null : `${apiUrl}/console`,
      temporal: services.temporalAddress,
      temporal_ui: services.temporalUiUrl,
      postgres: services.databaseUrl,
      s3: services.s3,
      api_key: apiKey,
      admin_key: env.GANTRY_ADMIN_KEY,
      tenant_id: settings.tenantId,
    };
    writeEndpoints = () => {
      if (signal.aborted) return;
      writeJsonAtomically(endpointsPath, { ...endpoints, pids: { supervisor: process.pid, ...supervisor.pids() } });
    };
    writeEndpoints();
    printBanner(settings, endpoints, apiKey);
    returnMemoryOfStart();

    await new Promise((resolve) => {
      if (signal.aborted) resolve(undefined);
      signal.addEventListener('abort', resolve, { once: true });
    });
  } finally {
    giveUp.abort();
    rmSync(endpointsPath, { force: true });
    await supervisor.stop();
    lock.release();
  }
}
