import { Resolver } from 'node:dns/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { HttpSettings } from '../../src/config/http-settings';
import { AddressPolicy } from '../../src/network/address-policy';
import { WebhookPolicy } from '../../src/webhooks/webhook-policy';
import { WebhookResolver } from '../../src/webhooks/webhook-resolver';
import { SendResult, WebhookSender } from '../../src/webhooks/webhook-sender';
import { WebhookSettings } from '../../src/webhooks/webhook-settings';
import { WebhookSigner } from '../../src/webhooks/webhook-signer';
import { resolveWebhookConfig } from '../../src/webhooks/webhook.config';
import { testConfig } from '../support/config';
import { ConnectionWatch } from '../support/connection-watch';
import { DnsServer } from '../support/dns-server';

const PUBLIC = '93.184.215.14';

/** Resolver that asks only the test's own name server. */
class LocalResolver extends WebhookResolver {
  constructor(server: string) {
    super();
    this.dns.setServers([server]);
  }
}

/** A resolver that asks each question once, however late a busy process reads the answer. */
class PatientResolver extends LocalResolver {
  protected override readonly dns = new Resolver({ timeout: 60_000, tries: 1 });

  constructor(server: string) {
    super(server);
    this.dns.setServers([server]);
  }
}

/** Answers of the test's name server, by name; a function gives another answer each time. */
const ZONE: Record<string, string[] | 'silent' | (() => string[])> = {
  'loopback.test': ['127.0.0.1'],
  'loopback6.test': ['::1'],
  'mapped.test': ['::ffff:7f00:1'],
  'private.test': ['10.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'mixed.test': [PUBLIC, '127.0.0.1'],
  'mixed6.test': [PUBLIC, '::1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'silent.test': 'silent',
};

describe('hostile addresses', () => {
  let sink: Server;
  let port = 0;
  let dns: DnsServer;
  let server = '';
  let reached = 0;
  let connections: ConnectionWatch;

  beforeAll(async () => {
    sink = createServer((socket) => {
      reached += 1;
      // Not before the request has come: a client that is still sending it may take the end for a broken connection.
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
    });
    await new Promise<void>((resolve) => sink.listen(0, '0.0.0.0', resolve));
    port = (sink.address() as AddressInfo).port;
    dns = new DnsServer((name, type) => {
      const entry = ZONE[name] ?? [];
      if (entry === 'silent') return entry;
      const all = typeof entry === 'function' ? (type === 'A' ? entry() : []) : entry;
      return all.filter((address) => address.includes(':') === (type === 'AAAA'));
    });
    server = await dns.start();
    connections = new ConnectionWatch(sink);
  });

  beforeEach(() => {
    reached = 0;
    dns.questions.length = 0;
    connections.forget();
  });

  afterAll(async () => {
    connections?.stop();
    dns.stop();
    await new Promise((resolve) => sink.close(resolve));
  });

  const allowedPorts = (): number[] => [port, 80, 443];

  function build(
    cidrs: string[] = [],
    resolver = new LocalResolver(server),
  ): { policy: WebhookPolicy; send(url: string): Promise<SendResult> } {
    const config = resolveWebhookConfig({ webhooks: { url: { allowed_ports: allowedPorts() } } }, {});
    const settings = new WebhookSettings(config, new AddressPolicy(cidrs), new WebhookSigner([]));
    const policy = new WebhookPolicy(settings, resolver);
    const app = testConfig('postgres://localhost/none', { GANTRY_WEBHOOK_TIMEOUT_SECONDS: '8' });
    const sender = new WebhookSender(app, policy, HttpSettings.parse({}, ''));
    return { policy, send: async (url) => sender.send(policy.parse(url), {}, '{}', new AbortController().signal) };
  }

  /** Connections to the ports of this file's URLs: what files before it left in the process connects to others. */
  const attempted = (): string[] => connections.to(...allowedPorts());

  it.each([
    'http://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f000001:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://0:PORT/',
    'http://0.0.0.0:PORT/',
    'http://[::1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[::7f00:1]:PORT/',
    'http://[64:ff9b::7f00:1]:PORT/',
    'http://user@127.0.0.1:PORT/',
    'http://hooks.example.com@127.0.0.1:PORT/',
    'http://127.0.0.1:PORT\\@hooks.example.com/',
    'http://１２７.０.０.１:PORT/',
    'http://%31%32%37.0.0.1:PORT/',
    'http:/127.0.0.1:PORT/',
    '//127.0.0.1:PORT/',
    'http://10.0.0.1:PORT/',
    'http://169.254.169.254/',
  ])('%s is refused before there is a connection', async (template) => {
    const { send } = build();
    await expect(send(template.replace('PORT', String(port)))).rejects.toMatchObject({ status: 422 });
    expect([attempted(), reached]).toEqual([[], 0]);
  });

  it.each(Object.keys(ZONE).filter((name) => name !== 'silent.test'))(
    'a connection to %s ends where its addresses are checked',
    async (name) => {
      const { policy, send } = build();
      const url = `http://${name}:${port}/`;
      await expect(policy.check(url)).rejects.toMatchObject({ status: 422 });
      expect(await send(url)).toMatchObject({ outcome: 'blocked_address', responseCode: null });
      expect([attempted(), reached]).toEqual([[], 0]);
    },
  );

  it('refuses a name that was public when the run was created and is internal when it is delivered', async () => {
    let answers = 0;
    ZONE['rebinding.test'] = () => (answers++ === 0 ? [PUBLIC] : ['127.0.0.1']);
    const { policy, send } = build();
    const url = `http://rebinding.test:${port}/`;
    await policy.check(url);
    expect(await send(url)).toMatchObject({ outcome: 'blocked_address' });
    expect([attempted(), reached]).toEqual([[], 0]);
  });

  it('connects to the address that it checked: a name is resolved once per connection', async () => {
    let answers = 0;
    ZONE['flapping.test'] = () => (answers++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']);
    const { send } = build(['127.0.0.0/8'], new PatientResolver(server));
    expect(await send(`http://flapping.test:${port}/`)).toMatchObject({ outcome: 'delivered' });
    expect(dns.questions.filter((question) => question.startsWith('A '))).toEqual(['A flapping.test']);
    expect(reached).toBe(1);
  });

  it('reaches an allowed network and nothing else, by name and by number', async () => {
    const { send } = build(['127.0.0.0/8']);
    expect(await send(`http://loopback.test:${port}/`)).toMatchObject({ outcome: 'delivered' });
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ outcome: 'delivered' });
    expect(await send(`http://private.test:${port}/`)).toMatchObject({ outcome: 'blocked_address' });
    expect(await send(`http://mixed6.test:${port}/`)).toMatchObject({ outcome: 'blocked_address' });
    expect([attempted(), reached]).toEqual([[`127.0.0.1 ${port}`, `127.0.0.1 ${port}`], 2]);
  });

  it('ends an attempt whose name servers do not answer', async () => {
    const result = await build().send(`http://silent.test:${port}/`);
    expect(['dns_error', 'timeout']).toContain(result.outcome);
    expect(result.durationMs).toBeLessThan(60_000);
    expect(attempted()).toEqual([]);
  });

  it('reveals no address in its errors', async () => {
    const result = await build().send(`http://private.test:${port}/`);
    expect(JSON.stringify(result)).not.toContain('10.0.0.1');
  });
});
