// npm run doctor: why is it not working? One line for each check, with what to do about it.
// A Gantry that runs answers most of them itself (GET /system/findings), as it does for its console. Where it doesn't run or
// doesn't answer, the same checks are carried out here, on the Gantry in GANTRY_HOME or on what the environment names.
import { describeRuntime } from './services/runtime.mjs';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { askFindings, checkAuth } from './doctor/api.mjs';
import { connectDatabase } from './doctor/database.mjs';
import { Finding } from './doctor/finding.mjs';
import { checkConfig, checkPorts } from './doctor/project.mjs';
import { checkTemporal } from './doctor/services.mjs';
import { callerFolder } from './services/caller-folder.mjs';
import { commandLine } from './services/identity.mjs';
import { readJson } from './services/json-file.mjs';
import { ROOT } from './services/paths.mjs';
import { SettingsError, readSettings } from './services/settings.mjs';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

let failures = 0;

/**
 * @param {string} level
 * @param {string} name
 * @param {string} text
 */
function print(level, name, text) {
  if (level === 'FAIL') failures++;
  process.stdout.write(`${level}  ${name.padEnd(20)} ${text.replaceAll('\n', ' ')}\n`);
}

/**
 * @param {string} name
 * @param {() => Promise<string> | string} look returns what was seen, or throws a Finding
 */
async function check(name, look) {
  try {
    print('PASS', name, await look());
  } catch (error) {
    const { level, hint } = error instanceof Finding ? error : { level: 'FAIL', hint: 'see the message' };
    print(level, name, `${error.message} → ${hint}`);
  }
}

const LEVELS = { ok: 'PASS', warning: 'WARN', failure: 'FAIL' };

/** @param {{ name: string, state: 'ok' | 'warning' | 'failure', detail: string, remedy: string | null }} finding */
function printFinding({ name, state, detail, remedy }) {
  print(LEVELS[state], name, remedy ? `${detail} → ${remedy}` : detail);
}

/**
 * Loads checks of the API as they were built, for what can be checked without it.
 * @param {string} name of the module in src/system/checks
 * @returns {Promise<any>}
 */
async function loadChecks(name) {
  const file = join(ROOT, 'dist', 'src', 'system', 'checks', `${name}.js`);
  if (!existsSync(file)) throw new Finding('Gantry is not built', 'npm run build', 'WARN');
  const module = await import(pathToFileURL(file).href);
  return module.default ?? module;
}

/** @param {string} url */
async function checkDatabase(url) {
  /** @type {import('pg').Client | undefined} */
  let client;
  await check('database connection', async () => {
    client = await connectDatabase(url);
    return 'is open';
  });
  if (!client) return;
  const connected = client;
  await checkAll('database-checks', ({ databaseChecks }) =>
    databaseChecks(async (/** @type {string} */ sql, /** @type {unknown[]} */ parameters) => {
      return (await connected.query(sql, parameters)).rows;
    }),
  );
  await connected.end();
}

/**
 * Carries out checks of the API here.
 * @param {string} name of their module
 * @param {(module: any) => object[]} choose
 */
async function checkAll(name, choose) {
  try {
    const { findingOf } = await loadChecks('finding');
    for (const each of choose(await loadChecks(name))) printFinding(await findingOf(each));
  } catch (error) {
    if (!(error instanceof Finding)) throw error;
    print(error.level, name.replace(/-checks?$/, ''), `${error.message} → ${error.hint}`);
  }
}

/** @param {import('./services/settings.mjs').Settings} settings */
function findRunning({ home }) {
  const endpoints = readJson(join(home, 'endpoints.json'));
  return endpoints && commandLine(endpoints.pids.supervisor).includes('start.mjs') ? endpoints : undefined;
}

/**
 * The bucket of a running Gantry or of the environment, as the settings of the API have it.
 * @param {import('./services/settings.mjs').Settings} settings
 * @param {any} running
 */
function bucketOf({ s3Endpoint, s3Bucket, s3Region, s3AccessKeyId, s3SecretAccessKey }, running) {
  const { endpoint, bucket, region, access_key_id, secret_access_key } = running?.s3 ?? {
    endpoint: s3Endpoint,
    bucket: s3Bucket,
    region: s3Region,
    access_key_id: s3AccessKeyId,
    secret_access_key: s3SecretAccessKey,
  };
  if (!endpoint) return undefined;
  const hasKeys = access_key_id && secret_access_key;
  const credentials = hasKeys ? { accessKeyId: access_key_id, secretAccessKey: secret_access_key } : undefined;
  return { endpoint, bucket, region, credentials };
}

/** Checks that this process carries out itself, since no API does. @param {import('./services/settings.mjs').Settings} settings @param {any} running */
async function checkServices(settings, running) {
  const databaseUrl = running?.postgres ?? settings.databaseUrl;
  const temporal = running?.temporal ?? settings.temporalAddress;
  const api = running?.api ?? process.env.GANTRY_API_URL;
  const bucket = bucketOf(settings, running);
  await check('config', () => checkConfig(settings.config));
  if (databaseUrl) await checkDatabase(databaseUrl);
  if (temporal) await check('temporal', () => checkTemporal(temporal, settings.temporalNamespace));
  if (bucket || running) await checkAll('bucket-check', ({ bucketCheck }) => [bucketCheck(bucket)]);
  if (api) {
    const address = { url: api, mountPrefix: '', origins: ['*'] };
    await checkAll('address-checks', ({ addressChecks }) => addressChecks(address));
  }
}

/** Checks for which this process is needed, when the API has carried out the others. */
const OWN = new Set(['node', 'ports', 'auth']);

async function main() {
  await check('node', describeRuntime);
  process.chdir(callerFolder());
  const settings = readSettings();
  const running = findRunning(settings);
  const api = running?.api ?? process.env.GANTRY_API_URL;
  const key = running?.api_key ?? process.env.GANTRY_API_KEY;

  await check('gantry', () => {
    if (running) return `runs in ${settings.home} (process ${running.pids.supervisor})`;
    const hint = 'npm start; until then only what the environment names is checked';
    throw new Finding(`none runs in ${settings.home}`, hint, 'WARN');
  });
  await check('ports', () => checkPorts(settings, running));
  const findings = api && (await askFindings(api, key));
  if (findings) findings.filter(({ name }) => !OWN.has(name)).forEach(printFinding);
  else await checkServices(settings, running);
  if (api) await check('auth', () => checkAuth(api, key, settings.tenantId));
}

try {
  await main();
} catch (error) {
  // A wrong setting, or a library that is not there: nothing further can be checked.
  const hint = error.code === 'ERR_MODULE_NOT_FOUND' ? 'npm ci' : 'correct it and run the doctor again';
  const problems = error instanceof SettingsError ? error.problems : [`${error.message} → ${hint}`];
  for (const problem of problems) print('FAIL', 'settings', problem);
}
process.stdout.write(failures > 0 ? `\n${failures} failed\n` : '\nNothing is wrong.\n');
process.exit(failures > 0 ? 1 : 0);
