import { ConfigError } from '../config/config-error';
import { resolveWebhookConfig } from './webhook.config';

const env = { LG_WEBHOOK_TOKEN: 's3cret', LG_WEBHOOK_EMPTY: '', LG_WEBHOOK_LINES: 'a\r\nb', OTHER: 'other' };
const headers = (values: Record<string, unknown>, rest: object = {}) =>
  resolveWebhookConfig({ webhooks: { headers: values, ...rest } }, env).headers;

function problems(raw: unknown): string[] {
  try {
    resolveWebhookConfig(raw, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('webhook section of langgraph.json', () => {
  it.each([
    ['Bearer ${{ env.LG_WEBHOOK_TOKEN }}', 'Bearer s3cret'],
    ['${{env.LG_WEBHOOK_TOKEN}}-${{  env.LG_WEBHOOK_TOKEN  }}', 's3cret-s3cret'],
    ['[${{ env.LG_WEBHOOK_EMPTY }}]', '[]'],
    ['{{ env.LG_WEBHOOK_TOKEN }}', '{{ env.LG_WEBHOOK_TOKEN }}'],
    ['$ {{ env.LG_WEBHOOK_TOKEN }}', '$ {{ env.LG_WEBHOOK_TOKEN }}'],
    ['${{}}', '${{}}'],
    ['plain', 'plain'],
  ])('reads %s', (template, value) => {
    expect(headers({ 'X-Key': template })).toEqual({ 'X-Key': value });
  });

  it.each([
    ['${{ env.LG_WEBHOOK_MISSING }}', /X-Key: the environment variable LG_WEBHOOK_MISSING is missing/],
    ['${{ env.OTHER }}', /OTHER must start with LG_WEBHOOK_/],
    ['${{ env. }}', /names no environment variable/],
    ['${{ env.LG_WEBHOOK_A.B }}', /names no environment variable/],
    ['${{ secrets.X }}', /only \$\{\{ env.NAME }} is a template/],
    ['${{ }}', /only \$\{\{ env.NAME }} is a template/],
    ['${{ env.LG_WEBHOOK_LINES }}', /X-Key: its value holds a character/],
  ])('refuses %s', (template, said) => {
    expect(problems({ webhooks: { headers: { 'X-Key': template } } }).join()).toMatch(said);
  });

  it('names every problem at once and no value', () => {
    const found = problems({
      webhooks: {
        headers: {
          A: '${{ env.LG_WEBHOOK_NO }}',
          B: '${{ env.LG_WEBHOOK_NEITHER }}s3cret',
          'bad name': 'x',
          Host: 'x',
        },
      },
    });
    expect(found).toHaveLength(4);
    expect(found.join()).not.toContain('s3cret');
  });

  it('reserves the headers that the delivery sets', () => {
    for (const name of ['Webhook-Id', 'webhook-signature', 'Content-Length', 'Transfer-Encoding', 'Connection']) {
      expect(problems({ webhooks: { headers: { [name]: 'x' } } })).toHaveLength(1);
    }
    expect(problems({ webhooks: { headers: { 'X-A': '1', 'x-a': '2' } } }).join()).toMatch('twice');
  });

  it('accepts another prefix, but not an empty one', () => {
    expect(headers({ A: '${{ env.OTHER }}' }, { env_prefix: 'OTH' })).toEqual({ A: 'other' });
    expect(problems({ webhooks: { env_prefix: '' } }).join()).toMatch('env_prefix');
    expect(problems({ webhooks: { env_prefix: null } }).join()).toMatch('env_prefix');
  });

  it('has the same defaults whether or not one of the keys is set', () => {
    const whole = resolveWebhookConfig({ webhooks: { url: { allowed_domains: ['a.example'] } } }, {});
    expect(whole.url).toEqual({ ...resolveWebhookConfig({}, {}).url, allowedDomains: ['a.example'] });
    expect(whole.url).toMatchObject({ requireHttps: false, maxLength: 4096, disableLoopback: false });
    expect(whole.url.allowedPorts).toBeUndefined();
  });

  it.each(['a*.example.com', '*', '*.', '*.*.com', 'https://a.example', 'a.example/x', 'a.example:443', ''])(
    'refuses the domain %p',
    (domain) => {
      expect(problems({ webhooks: { url: { allowed_domains: [domain] } } })[0]).toMatch(
        'webhooks.url.allowed_domains.0',
      );
    },
  );

  it('refuses unknown keys, so that a typo allows nothing', () => {
    expect(problems({ webhooks: { url: { allowed_domain: ['a.example'] } } }).join()).toMatch('allowed_domain');
    expect(problems({ webhooks: { url: { disable_private_ips: false } } }).join()).toMatch(
      'GANTRY_WEBHOOK_ALLOW_CIDRS',
    );
    expect(problems({ webhooks: { headers: { A: 1 } } }).join()).toMatch('webhooks.headers.A');
    expect(problems({ webhooks: { allowed_fields: ['secrets'] } })).toHaveLength(1);
  });

  it('reads http.disable_webhooks', () => {
    expect(resolveWebhookConfig({ http: { disable_webhooks: true, app: './x.py:app' } }, {}).disabled).toBe(true);
    expect(resolveWebhookConfig({ graphs: {} }, {}).disabled).toBe(false);
  });
});
