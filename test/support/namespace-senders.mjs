// Sends to hosts with what the worker sends with, in a network namespace in which every address of any network is this machine
// (test/security/addresses-namespace.test.ts). Reads {dist, hosts, variables} as JSON, writes {reached, controls}.
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const { dist, hosts, variables } = JSON.parse(await text(process.stdin));
const load = createRequire(join(dist, 'src', 'main.js'));
const { loadConfig } = load('./config/config.js');
const { HttpSettings } = load('./config/http-settings.js');
const { AddressPolicy } = load('./network/address-policy.js');
const { ObjectStores } = load('./storage/object-stores.js');
const { Patience } = load('./storage/patience.js');
const { WebhookPolicy } = load('./webhooks/webhook-policy.js');
const { WebhookResolver } = load('./webhooks/webhook-resolver.js');
const { WebhookSender } = load('./webhooks/webhook-sender.js');
const { WebhookSettings } = load('./webhooks/webhook-settings.js');
const { WebhookSigner } = load('./webhooks/webhook-signer.js');
const { resolveWebhookConfig } = load('./webhooks/webhook.config.js');

const PORTS = [80, 443, 8080];
const ROLE = 'arn:aws:iam::123456789012:role/exports';
const TENANT = '00000000-0000-0000-0000-000000000000';
const BUCKET = { bucket_name: 'bucket', prefix: '', include_bucket_in_prefix: false };

/** @type {string[]} addresses that were reached, and their ports */
let accepted = [];
for (const port of PORTS) {
  const server = createServer((socket) => {
    accepted.push(`${socket.localAddress} ${port}`);
    socket.destroy();
  });
  await new Promise((resolve) => server.listen(port, '::', () => resolve(undefined)));
}

/** @param {string[]} allowed networks @returns {Record<string, (url: string) => Promise<unknown>>} */
function sendersFor(allowed) {
  const settings = { ...variables, GANTRY_EXPORT_ALLOW_CIDRS: allowed.join(), GANTRY_WEBHOOK_TIMEOUT_SECONDS: '2' };
  const config = loadConfig(settings);
  const webhooks = resolveWebhookConfig({ webhooks: { url: { allowed_ports: PORTS } } }, {});
  const policy = new WebhookPolicy(
    new WebhookSettings(webhooks, new AddressPolicy(allowed), new WebhookSigner([])),
    new WebhookResolver(),
  );
  const sender = new WebhookSender(config, policy, HttpSettings.parse({}, ''));
  const patience = { ...Patience.question, maxAttempts: 1 };
  const stores = new ObjectStores(config);
  /** @param {any} opened */
  const ask = async (opened) => {
    try {
      await opened.head('x');
    } finally {
      opened.close();
    }
  };
  const s3 = { ...BUCKET, region: 'eu-central-1' };
  const keys = { access_key_id: 'a', secret_access_key: 'b' };
  const azure = { ...BUCKET, account_name: 'account', container_name: 'bucket' };
  const azureKeys = { account_key: Buffer.from('key').toString('base64') };
  return {
    webhook: async (url) => sender.send(policy.parse(url), {}, '{}', new AbortController().signal),
    s3: async (endpoint_url) =>
      ask(stores.open(TENANT, { type: 's3', location: { ...s3, endpoint_url }, credentials: keys }, patience)),
    azure_blob: async (endpoint_url) =>
      ask(
        stores.open(
          TENANT,
          { type: 'azure_blob', location: { ...azure, endpoint_url }, credentials: azureKeys },
          patience,
        ),
      ),
    'token service': async (url) => {
      const own = { GANTRY_EXPORT_AMBIENT_ROLES: ROLE, GANTRY_EXPORT_STS_ENDPOINT: url };
      const trusted = new ObjectStores(loadConfig({ ...settings, ...own }));
      const location = { ...s3, aws_role_arn: ROLE };
      await ask(trusted.open(TENANT, { type: 's3', location, credentials: undefined }, patience));
    },
  };
}

/** Connections of one sender, and its outcome. @param {(url: string) => Promise<unknown>} send @param {string} url */
async function reachedBy(send, url) {
  accepted = [];
  const outcome = await send(url).catch((/** @type {Error} */ error) => error);
  return { connections: accepted, outcome: String(outcome) };
}

const reached = [];
const controls = [];
const allowing = sendersFor(['10.0.0.0/8']);
for (const [name, send] of Object.entries(sendersFor([]))) {
  for (const host of hosts) {
    for (const url of [`http://${host}:8080/`, `https://${host}/`]) {
      const { connections } = await reachedBy(send, url);
      if (connections.length > 0) reached.push({ name, url, connections });
    }
  }
  controls.push({ name, ...(await reachedBy(allowing[name], 'http://10.0.0.1:8080')) });
}
process.stdout.write(JSON.stringify({ reached, controls }), () => process.exit(0));
