import { mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { startPostgres, startS3, startTemporal } from './backing-services.mjs';
import { findChromium } from './chromium.mjs';
import { findGraphPython } from './graph-python.mjs';
import { identify, isAlive } from './identity.mjs';
import { readJson, writeJsonAtomically } from './json-file.mjs';
import { findMcpConformance } from './mcp-conformance.mjs';
import { ROOT } from './paths.mjs';
import { freePort } from './ports.mjs';
import { findPython } from './python.mjs';
import { launcherProgram } from './runtime.mjs';
import { loadSecrets } from './secrets.mjs';
import { findTimeSkippingServer } from './time-skipping-server.mjs';

const LOOPBACK = '127.0.0.1';
/** The project with the Python graphs of the tests. */
const PYTHON_GRAPHS = join(ROOT, 'test', 'python-graphs', 'project', 'langgraph.json');
/** The same with the oldest libraries that graphs may have. */
const OLDER_PYTHON_GRAPHS = join(ROOT, 'test', 'python-graphs', 'project', 'older.json');

/** Where `npm run test:services` writes what it keeps running for this clone. */
const RUNNING = join(ROOT, 'node_modules', '.cache', 'gantry', 'test-services.json');

/**
 * Starts Postgres, Temporal and S3 on free ports and finds the programs that tests run.
 * @param {import('./backing-services.mjs').Context} context
 * @returns {Promise<Record<string, string>>} the environment of the tests (scripts/test.mjs lists it)
 */
export async function startTestServices(context) {
  const { home, installed, signal } = context;
  const secrets = loadSecrets(home);
  const ports = await Promise.all([freePort(LOOPBACK), freePort(LOOPBACK), freePort(LOOPBACK)]);
  const [postgresPort, temporalPort, s3Port] = ports;
  const [
    databaseUrl,
    temporal,
    s3,
    python,
    graphPython,
    olderGraphPython,
    mcpConformance,
    chromium,
    timeSkippingServer,
  ] = await Promise.all([
    startPostgres(context, { port: postgresPort, password: secrets.postgres_password, disposable: true }),
    startTemporal(context, { port: temporalPort, uiPort: null, namespace: 'default', disposable: true }),
    startS3(context, {
      port: s3Port,
      bucket: 'gantry',
      region: 'us-east-1',
      accessKeyId: secrets.s3_access_key_id,
      secretAccessKey: secrets.s3_secret_access_key,
    }),
    findPython('requirements.txt', signal),
    findGraphPython(PYTHON_GRAPHS, { signal }),
    findGraphPython(OLDER_PYTHON_GRAPHS, { signal }),
    findMcpConformance(signal),
    findChromium(signal),
    installed.then(() => findTimeSkippingServer(signal)), // the download goes through an npm package
  ]);
  return {
    GANTRY_TEST_DATABASE_URL: databaseUrl,
    GANTRY_TEST_TEMPORAL_ADDRESS: temporal.address,
    GANTRY_TEST_S3: JSON.stringify(s3),
    GANTRY_TEST_PYTHON: python,
    GANTRY_TEST_GRAPH_PYTHON: graphPython ?? '',
    GANTRY_TEST_OLDER_GRAPH_PYTHON: olderGraphPython ?? '',
    GANTRY_TEST_MCP_CONFORMANCE: mcpConformance,
    GANTRY_TEST_CHROMIUM: chromium,
    GANTRY_TEST_TIME_SKIPPING_SERVER: timeSkippingServer,
    GANTRY_TEST_OLD_NODE: launcherProgram() ?? '',
    // Code that one process has compiled is reused by the next one; the folder is removed with the services.
    NODE_COMPILE_CACHE: join(home, 'compile-cache'),
  };
}

/**
 * Lets `npm test` find the services of this process.
 * @param {Record<string, string>} env
 * @returns {() => void} takes it back
 */
export function publishTestServices(env, path = RUNNING) {
  mkdirSync(dirname(path), { recursive: true });
  writeJsonAtomically(path, { process: identify(process.pid, basename(process.argv[1])), env });
  return () => rmSync(path, { force: true });
}

/** @returns {Record<string, string> | undefined} what a living `npm run test:services` of this clone has published */
export function findTestServices(path = RUNNING) {
  const running = readJson(path);
  return running && isAlive(running.process) ? running.env : undefined;
}
