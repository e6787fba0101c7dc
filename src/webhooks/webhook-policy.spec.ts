import type { LookupAddress } from 'node:dns';
import { ApiError } from '../http/api-error';
import { AddressPolicy } from '../network/address-policy';
import { AddressRefusedError, WebhookPolicy } from './webhook-policy';
import { ResolutionError, WebhookResolver } from './webhook-resolver';
import { WebhookSettings } from './webhook-settings';
import { WebhookSigner } from './webhook-signer';
import { resolveWebhookConfig } from './webhook.config';

/** Answers from a table and counts; a name that isn't in it doesn't exist. */
class TableResolver extends WebhookResolver {
  asked: string[] = [];
  constructor(private readonly table: Record<string, string[] | 'silent'>) {
    super();
  }
  override async resolve(hostname: string): Promise<LookupAddress[]> {
    this.asked.push(hostname);
    const found = this.table[hostname];
    if (found === 'silent') throw new ResolutionError(true);
    if (!found) throw new ResolutionError(false);
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  }
}

const NAMES: Record<string, string[] | 'silent'> = {
  'hooks.example.com': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'example.com': ['93.184.215.14'],
  'internal.example.com': ['10.1.2.3'],
  'mixed.example.com': ['93.184.215.14', '127.0.0.1'],
  'six.example.com': ['fd00::1'],
  'mapped.example.com': ['::ffff:127.0.0.1'],
  'silent.example.com': 'silent',
  'xn--exmple-cua.com': ['93.184.215.14'],
  'xn--80ak6aa92e.com': ['93.184.215.14'],
  localhost: ['127.0.0.1'],
  'localhost.': ['127.0.0.1'],
  receiver: ['172.18.0.5'],
};

function policy(webhooks: object = {}, cidrs: string[] = [], resolver = new TableResolver(NAMES)): WebhookPolicy {
  const config = resolveWebhookConfig({ webhooks }, {});
  return new WebhookPolicy(new WebhookSettings(config, new AddressPolicy(cidrs), new WebhookSigner([])), resolver);
}

async function refusal(subject: WebhookPolicy, url: string): Promise<string | undefined> {
  try {
    await subject.check(url);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.status).toBe(422);
    expect(error.errors?.[0]?.path).toBe('webhook');
    return error.detail;
  }
}

/** Every one of these must be refused by a server that was given no settings. */
const HOSTILE: [string, string][] = [
  ['loopback', 'http://127.0.0.1/'],
  ['loopback, another of its addresses', 'http://127.8.9.10/'],
  ['loopback by name', 'http://localhost/'],
  ['loopback by name with a dot', 'http://localhost./'],
  ['loopback by name in capitals', 'http://LOCALHOST/'],
  ['loopback in decimal', 'http://2130706433/'],
  ['loopback in hex', 'http://0x7f000001/'],
  ['loopback in hex parts', 'http://0x7f.0x0.0x0.0x1/'],
  ['loopback in octal', 'http://0177.0.0.1/'],
  ['loopback in long octal', 'http://017700000001/'],
  ['loopback in mixed bases', 'http://0x7f.0.0.01/'],
  ['loopback, short', 'http://127.1/'],
  ['loopback, shorter', 'http://127.0.1/'],
  ['loopback with a trailing dot', 'http://127.0.0.1./'],
  ['loopback, percent-encoded', 'http://%31%32%37.0.0.1/'],
  ['loopback in full-width digits', 'http://１２７.０.０.１/'],
  ['loopback in circled letters', 'http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/'],
  ['loopback with ideographic stops', 'http://127。0。0。1/'],
  ['loopback with a soft hyphen', 'http://local\u00adhost/'],
  ['loopback with a zero-width space', 'http://127.0.0.1\u200b/'],
  ['this host', 'http://0.0.0.0/'],
  ['this host, short', 'http://0/'],
  ['this network', 'http://0.1.2.3/'],
  ['private 10', 'http://10.0.0.1/'],
  ['private 172', 'http://172.16.0.1/'],
  ['private 172, last', 'http://172.31.255.254/'],
  ['private 192', 'http://192.168.1.1/'],
  ['private in decimal', 'http://167772161/'],
  ['carrier-grade NAT', 'http://100.64.0.1/'],
  ['link-local', 'http://169.254.1.1/'],
  ['metadata', 'http://169.254.169.254/latest/meta-data/'],
  ['metadata in decimal', 'http://2852039166/'],
  ['metadata in hex', 'http://0xa9fea9fe/'],
  ['metadata in octal', 'http://0251.0376.0251.0376/'],
  ['metadata of containers', 'http://169.254.170.2/'],
  ['metadata of Alibaba', 'http://100.100.100.200/'],
  ['metadata of Azure', 'http://168.63.129.16/'],
  ['metadata of Oracle', 'http://192.0.0.192/'],
  ['metadata over IPv6', 'http://[fd00:ec2::254]/'],
  ['multicast', 'http://224.0.0.1/'],
  ['class E', 'http://240.0.0.1/'],
  ['broadcast', 'http://255.255.255.255/'],
  ['benchmarking', 'http://198.18.0.1/'],
  ['documentation 1', 'http://192.0.2.1/'],
  ['documentation 2', 'http://198.51.100.1/'],
  ['documentation 3', 'http://203.0.113.1/'],
  ['6to4 relay', 'http://192.88.99.1/'],
  ['IPv6 loopback', 'http://[::1]/'],
  ['IPv6 loopback, long', 'http://[0:0:0:0:0:0:0:1]/'],
  ['IPv6 unspecified', 'http://[::]/'],
  ['IPv4-mapped loopback', 'http://[::ffff:127.0.0.1]/'],
  ['IPv4-mapped loopback in hex', 'http://[::ffff:7f00:1]/'],
  ['IPv4-mapped metadata', 'http://[::ffff:a9fe:a9fe]/'],
  ['IPv4-mapped public', 'http://[::ffff:808:808]/'],
  ['IPv4-compatible loopback', 'http://[::7f00:1]/'],
  ['NAT64 of loopback', 'http://[64:ff9b::7f00:1]/'],
  ['NAT64, local prefix', 'http://[64:ff9b:1::7f00:1]/'],
  ['IPv4-translated', 'http://[::ffff:0:7f00:1]/'],
  ['6to4 of loopback', 'http://[2002:7f00:1::]/'],
  ['Teredo', 'http://[2001::7f00:1]/'],
  ['IPv6 link-local', 'http://[fe80::1]/'],
  ['IPv6 link-local with a zone', 'http://[fe80::1%25eth0]/'],
  ['IPv6 unique-local', 'http://[fc00::1]/'],
  ['IPv6 site-local', 'http://[fec0::1]/'],
  ['IPv6 multicast', 'http://[ff02::1]/'],
  ['IPv6 documentation', 'http://[2001:db8::1]/'],
  ['IPv6 discard', 'http://[100::1]/'],
  ['IPv6 segment routing', 'http://[5f00::1]/'],
  ['a name of an internal address', 'http://internal.example.com/'],
  ['a name of a public and an internal address', 'http://mixed.example.com/'],
  ['a name of a unique-local address', 'http://six.example.com/'],
  ['a name of a mapped address', 'http://mapped.example.com/'],
  ['a name that does not exist', 'http://nothing.example.com/'],
  ['userinfo', 'http://user:secret@hooks.example.com/'],
  ['userinfo that looks like the host', 'http://hooks.example.com@127.0.0.1/'],
  ['an empty userinfo', 'http://@hooks.example.com/'],
  ['an encoded @', 'http://hooks.example.com%40127.0.0.1/'],
  ['a backslash before the @', 'http://127.0.0.1\\@hooks.example.com/'],
  ['backslashes for slashes', 'http:\\\\127.0.0.1\\'],
  ['one slash', 'http:/127.0.0.1/'],
  ['no slash', 'http:127.0.0.1/'],
  ['three slashes', 'http:///127.0.0.1/'],
  ['no scheme but a host', '//127.0.0.1/'],
  ['no scheme but a public host', '//hooks.example.com/'],
  ['a path that is a host to some', '/\\127.0.0.1/'],
  ['a path with a tab that is a host to some', '/\t/127.0.0.1/'],
  ['a tab inside the host', 'http://127.0.\t0.1/'],
  ['a line break inside the host', 'http://hooks.example.com\r\nHost: 127.0.0.1/'],
  ['a leading blank', ' http://127.0.0.1/'],
  ['a NUL', 'http://hooks.example.com\u0000.evil.com/'],
  ['file', 'file:///etc/passwd'],
  ['gopher', 'gopher://127.0.0.1:6379/_FLUSHALL'],
  ['ftp', 'ftp://hooks.example.com/'],
  ['javascript', 'javascript:alert(1)'],
  ['data', 'data:text/plain,x'],
  ['unix socket', 'http+unix://%2Fvar%2Frun%2Fdocker.sock/'],
  ['a port of Redis', 'http://hooks.example.com:6379/'],
  ['a port of SSH', 'https://hooks.example.com:22/'],
  ['a port above all ports', 'http://hooks.example.com:65536/'],
  ['a Cyrillic look-alike, not in punycode', 'http://еxample.com/'],
  ['no host', 'http://'],
  ['no host but a port', 'http://:80/'],
  ['a name without the scheme', 'hooks.example.com'],
  ['too long', `http://hooks.example.com/${'x'.repeat(4_100)}`],
];

describe('webhook policy', () => {
  it.each(HOSTILE)('refuses %s: %s', async (_name, url) => {
    const said = await refusal(policy(), url);
    expect(said).toMatch(/^webhook: /);
    expect(said).not.toMatch(/secret|10\.1\.2\.3/);
  });

  it.each([
    'http://hooks.example.com/',
    'https://hooks.example.com/a/b?token=t#fragment',
    'https://hooks.example.com:443/',
    'http://HOOKS.Example.com:80/',
    'http://93.184.215.14/',
    'http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
    'https://xn--exmple-cua.com/',
    '/internal/path?x=1',
  ])('accepts %s', async (url) => {
    expect(await refusal(policy(), url)).toBeUndefined();
  });

  it('gives the same answer for an internal name and for one that does not exist', async () => {
    const internal = await refusal(policy(), 'http://internal.example.com/');
    expect(internal).toBe(await refusal(policy(), 'http://nothing.example.com/'));
  });

  it('lets a name pass whose name servers do not answer: the connection is checked again', async () => {
    expect(await refusal(policy(), 'http://silent.example.com/')).toBeUndefined();
  });

  it('allows the networks of GANTRY_WEBHOOK_ALLOW_CIDRS, on any port unless ports are listed', async () => {
    const opened = policy({}, ['127.0.0.0/8', '172.18.0.0/16']);
    expect(await refusal(opened, 'http://127.0.0.1:34567/')).toBeUndefined();
    expect(await refusal(opened, 'http://localhost:34567/')).toBeUndefined();
    expect(await refusal(opened, 'http://receiver:8080/')).toBeUndefined();
    expect(await refusal(opened, 'http://hooks.example.com:8080/')).toMatch('port 8080');
    expect(await refusal(opened, 'http://nothing.example.com:8080/')).toMatch('port 8080');
    expect(await refusal(opened, 'http://10.0.0.1/')).toMatch('private');
    expect(await refusal(opened, 'http://[::ffff:7f00:1]/')).toMatch('ipv4Mapped');
    expect(await refusal(opened, 'http://2130706433:34567/')).toMatch('plainly');
    const listed = policy({ url: { allowed_ports: [443] } }, ['127.0.0.0/8']);
    expect(await refusal(listed, 'http://127.0.0.1:34567/')).toMatch('port 34567');
  });

  it('restricts hosts to webhooks.url.allowed_domains', async () => {
    const listed = policy({ url: { allowed_domains: ['example.com', '*.hooks.net', 'BÜCHER.de'] } });
    expect(await refusal(listed, 'https://example.com/')).toBeUndefined();
    expect(await refusal(listed, 'https://hooks.example.com/')).toMatch('allowed_domains');
    expect(await refusal(listed, 'https://example.com.evil.org/')).toMatch('allowed_domains');
    expect(await refusal(listed, 'https://xn--80ak6aa92e.com/')).toMatch('allowed_domains');
    expect(await refusal(listed, 'https://hooks.net/')).toMatch('allowed_domains');
    expect(await refusal(listed, 'https://evilhooks.net/')).toMatch('allowed_domains');
    expect(await refusal(listed, 'https://93.184.215.14/')).toMatch('allowed_domains');
    // Listed, so judged by its addresses: being listed opens none.
    expect(await refusal(listed, 'https://a.b.hooks.net/')).toMatch('no address');
    expect(await refusal(policy({ url: { allowed_domains: ['localhost'] } }), 'http://localhost/')).toMatch(
      'no address',
    );
    expect(await refusal(policy({ url: { allowed_domains: ['10.0.0.1'] } }), 'http://10.0.0.1/')).toMatch('private');
  });

  it('enforces the other rules of webhooks.url', async () => {
    expect(await refusal(policy({ url: { require_https: true } }), 'http://hooks.example.com/')).toMatch('https');
    expect(await refusal(policy({ url: { disable_loopback: true } }), '/path')).toMatch('disable_loopback');
    expect(await refusal(policy({ url: { max_url_length: 20 } }), 'https://hooks.example.com/')).toMatch(
      '20 characters',
    );
    expect(await refusal(policy({ url: { allowed_ports: [8443] } }), 'https://hooks.example.com/')).toMatch('port 443');
    expect(
      await refusal(policy({ url: { allowed_ports: [8443] } }), 'https://hooks.example.com:8443/'),
    ).toBeUndefined();
  });

  it('gives a connection the addresses that it checked, and none when one of them is internal', async () => {
    const subject = policy();
    const connect = (url: string, all: boolean) =>
      new Promise<unknown>((resolve, reject) => {
        const destination = subject.parse(url);
        if (destination.kind !== 'external') throw new Error('not external');
        subject.lookupFor(destination)('ignored', { all }, (error, address) =>
          error ? reject(error) : resolve(address),
        );
      });
    expect(await connect('http://example.com/', false)).toBe('93.184.215.14');
    expect(await connect('http://example.com/', true)).toEqual([{ address: '93.184.215.14', family: 4 }]);
    await expect(connect('http://mixed.example.com/', true)).rejects.toThrow(AddressRefusedError);
  });
});
