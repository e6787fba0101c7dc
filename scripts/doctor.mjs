// npm run doctor: why is it not working? One line for each check, with what to do about it.
// Looks at the Gantry that runs in GANTRY_HOME, or else at what the environment names.
import { describeRuntime } from './services/runtime.mjs';
import { join } from 'node:path';
import { checkApiClock, checkAuth, checkCors, checkOk } from './doctor/api.mjs';
import { checkDatabase, checkDatabaseClock, checkMigrations, connectDatabase } from './doctor/database.mjs';
import { Finding } from './doctor/finding.mjs';
import { checkConfig, checkPorts } from './doctor/project.mjs';
import { checkS3, checkTemporal } from './doctor/services.mjs';
import { commandLine } from './services/identity.mjs';
import { readJson } from './services/json-file.mjs';
import { SettingsError, readSettings } from './services/settings.mjs';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

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
