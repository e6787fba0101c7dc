// node scripts/generate-secrets.mjs .env: writes everything that docker-compose.yml asks for, made at random, into a new file.
//
// Keep the file with the data: GANTRY_SECRET_KEY opens what is stored encrypted, and the passwords are set in Postgres
// when its volume is made. Made again, they don't fit: a file that exists is never overwritten.
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';

const password = () => randomBytes(24).toString('base64url'); // safe inside a URL
const key = () => `gtry_${randomBytes(32).toString('base64url')}`;

/** @type {[comment: string, name: string, value: string][]} */
const settings = [
  ['The API key (X-API-Key) and its tenant (X-Tenant-Id).', 'GANTRY_API_KEY', key()],
  ['', 'GANTRY_TENANT_ID', randomUUID()],
  ['Opens the admin API: tenants, keys, the audit log.', 'GANTRY_ADMIN_KEY', key()],
  ['Workers of earlier releases send their traces to the api with it.', 'GANTRY_INTERNAL_KEY', key()],
  ['Lets Prometheus read /metrics of the api and of the workers.', 'GANTRY_METRICS_TOKEN', key()],
  [
    'Encrypts stored credentials and webhook URLs: 32 bytes in base64.',
    'GANTRY_SECRET_KEY',
    randomBytes(32).toString('base64'),
  ],
  [
    'Signs webhooks (Standard Webhooks); docs/webhooks.md says how it is rotated.',
    'GANTRY_WEBHOOK_SECRETS',
    `whsec_${randomBytes(32).toString('base64')}`,
  ],
  ['Passwords inside the composition.', 'GANTRY_POSTGRES_PASSWORD', password()],
  ['', 'TEMPORAL_POSTGRES_PASSWORD', password()],
  [
    'The S3 gateway of the first try. Your own bucket has its own credentials, which go to the destination.',
    'GANTRY_S3_ACCESS_KEY_ID',
    `GANTRY${randomBytes(7).toString('hex').toUpperCase()}`,
  ],
  ['', 'GANTRY_S3_SECRET_ACCESS_KEY', randomBytes(30).toString('base64url')],
];

const lines = settings.map(([comment, name, value]) => `${comment ? `\n# ${comment}\n` : ''}${name}=${value}\n`);
const content = `# Secrets of a Gantry. Not for version control.\n${lines.join('')}
# What else there is to set: docs/operations.md, .env.example.
`;

const [file, ...rest] = process.argv.slice(2);
if (!file || file.startsWith('-') || rest.length > 0) {
  fail('name the file to write: node scripts/generate-secrets.mjs .env');
}
try {
  // Only its owner may read it. The flag fails where there is a file, so that two calls at once are safe as well.
  writeFileSync(file, content, { mode: 0o600, flag: 'wx' });
} catch (error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
  if (code !== 'EEXIST') fail(message);
  fail(`${file} exists and is left as it is: its secrets open the data of this Gantry`);
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
