import { withApi } from '../support/api';

const POLICY =
  "default-src 'none';script-src 'self';style-src 'self';connect-src 'self';img-src 'self' data:;font-src 'self';" +
  "base-uri 'none';form-action 'none';frame-ancestors 'none'";

/** Address of the script that a page loads. */
async function scriptOf(address: string): Promise<string> {
  const page = await (await fetch(address)).text();
  const [, path] = /<script type="module"[^>]* src="([^"]+)"/.exec(page)!;
  return new URL(path, address).href;
}

describe('the console', () => {
  it('is served without a key, and loads its files relative to its own address', () =>
    withApi({ env: { GANTRY_AUTH: 'on', GANTRY_API_KEY: 'gantry-key-of-the-console' } }, async ({ url }) => {
      for (const path of ['/console', '/console/', '/console/runs', '/console/threads/1?tab=state']) {
        const page = await fetch(url + path);
        expect([path, page.status, page.headers.get('content-security-policy')]).toEqual([path, 200, POLICY]);
        expect(page.headers.get('cache-control')).toBe('no-cache');
        const script = await scriptOf(url + path);
        expect([path, script]).toEqual([path, expect.stringContaining(`${url}/console/assets/`)]);
        const sent = await fetch(script, { headers: { 'accept-encoding': 'br' } });
        expect(sent.status).toBe(200);
        expect(sent.headers.get('content-encoding')).toBe('br');
        expect(sent.headers.get('cache-control')).toContain('immutable');
      }
      expect((await fetch(`${url}/console/assets/none.js`)).status).toBe(404);
      expect((await fetch(`${url}/console`, { method: 'POST' })).status).toBe(405);
    }));

  it('works below mount_prefix only', () =>
    withApi({ http: { mount_prefix: '/agents' } }, async ({ url }) => {
      expect(await scriptOf(`${url}/agents/console/runs`)).toContain(`${url}/agents/console/assets/`);
      expect((await fetch(`${url}/console`)).status).toBe(404);
    }));

  it('is absent with GANTRY_CONSOLE=off, and with disable_meta', async () => {
    await withApi({ env: { GANTRY_CONSOLE: 'off' } }, async ({ url }) => {
      expect((await fetch(`${url}/console`)).status).toBe(404);
      expect((await fetch(`${url}/console/runs`)).status).toBe(404);
    });
    await withApi({ http: { disable_meta: true } }, async ({ url }) => {
      expect((await fetch(`${url}/console`)).status).toBe(404);
    });
  });

  it('learns from /info which credentials to ask for, and from /api/v1/me who the caller is', () =>
    withApi(
      {
        env: {
          GANTRY_AUTH: 'on',
          GANTRY_API_KEY: 'gantry-key-of-the-console',
          GANTRY_TEMPORAL_UI_URL: 'http://temporal.example:8233/',
        },
      },
      async ({ url, config }) => {
        const info = (await (await fetch(`${url}/info`)).json()) as Record<string, unknown>;
        expect(info.auth_type).toBe('api_key');
        expect(info.temporal_ui).toBe(`http://temporal.example:8233/namespaces/${config.temporal.namespace}`);
        expect((await fetch(`${url}/api/v1/me`)).status).toBe(401);
        const me = await fetch(`${url}/api/v1/me`, { headers: { 'x-api-key': 'gantry-key-of-the-console' } });
        expect(await me.json()).toMatchObject({
          tenant_id: config.auth.defaultTenantId,
          kind: 'api_key',
          permissions: null,
          entitlements: { crons: true, bulk_export: true },
        });
      },
    ));
});
