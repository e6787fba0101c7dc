import { startTestApi, type TestApi } from '../support/api';
import { answeringGraph, layOutProject, type Project } from '../support/project';

const WEATHER = `import { useState } from 'react';
import { label } from '@/label';
import './weather.css';
function Weather({ city }: { city: string }) {
  const [count, setCount] = useState(0);
  return <button className="weather" onClick={() => setCount(count + 1)}>{label} {city} {count}</button>;
}
export default { weather: Weather };
`;

const tagsOf = (url: string, agent: string, body: unknown = { name: 'weather' }, headers = {}): Promise<Response> =>
  fetch(`${url}/ui/${encodeURIComponent(agent)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** Addresses of the style sheet and of the script. */
const addressesIn = (html: string): string[] => [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, found]) => found);

function project(more: Record<string, unknown> = {}): Project {
  return layOutProject({
    'langgraph.json': {
      graphs: { agent: './graph.ts:graph' },
      ui: {
        agent: './ui/weather.tsx',
        'my-agent': './ui/weather.tsx',
        missing: './ui/nowhere.tsx',
        broken: './ui/broken.tsx',
        outside: '../outside.tsx',
        shared: './ui/shared.tsx',
      },
      ui_config: { shared: ['@acme/theme'] },
      ...more,
    },
    'tsconfig.json': { compilerOptions: { paths: { '@/*': ['./lib/*'] } } },
    'graph.ts': answeringGraph('', '1'),
    'lib/label.ts': `export const label: string = 'Weather in';`,
    'ui/weather.tsx': WEATHER,
    'ui/weather.css': '.weather { color: rebeccapurple; }',
    'ui/broken.tsx': 'export default { broken: <div> };',
    'ui/shared.tsx': `import { Theme } from '@acme/theme'; export default { shared: () => <Theme /> };`,
  });
}

describe('the components of langgraph.json', () => {
  let app: Project;
  let api: TestApi;

  beforeAll(async () => {
    app = project();
    api = await startTestApi({ GANTRY_CONFIG: app.path('langgraph.json') });
  });

  afterAll(async () => {
    await api?.close();
    app?.remove();
  });

  it('are served as tags that load a style sheet and a script, and render into the shadow root', async () => {
    const { host } = new URL(api.url);
    const response = await tagsOf(api.url, 'agent');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const tags = await response.text();
    const [style, script] = tags.split('\n');
    expect(style).toMatch(
      new RegExp(
        `^<link rel="stylesheet" href="http://${host}/ui/agent/entrypoint.css\\?v=\\w{16}" crossorigin="anonymous" />$`,
      ),
    );
    expect(script).toMatch(
      new RegExp(`^<script src="http://${host}/ui/agent/entrypoint.js\\?v=\\w{16}" crossorigin="anonymous" onload='`),
    );
    expect(script).toContain(`onload='__LGUI_agent.render("weather", "{{shadowRootId}}")'></script>`);
    expect(await (await tagsOf(api.url, 'my-agent')).text()).toContain(`onload='__LGUI_my_agent.render(`);

    const files = await Promise.all(addressesIn(tags).map((address) => fetch(address)));
    expect(
      files.map(({ status, headers }) => [status, headers.get('content-type'), headers.get('cache-control')]),
    ).toEqual([
      [200, 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
      [200, 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
    ]);
    const [css, code] = await Promise.all(files.map((file) => file.text()));
    expect(css).toMatch(/\.weather\s*{\s*color: (rebeccapurple|#639)/);
    expect(code).toContain('Weather in'); // found by the tsconfig's paths
    expect(code).toContain('LGUI_REQUIRE');
  });

  it('can be cached under their version only', async () => {
    const [address] = addressesIn(await (await tagsOf(api.url, 'agent')).text());
    const plain = await fetch(address.split('?')[0]);
    expect(plain.headers.get('cache-control')).toBe('no-cache');
    const again = await fetch(address.split('?')[0], { headers: { 'if-none-match': plain.headers.get('etag')! } });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('get the name of a component as text, whatever it contains', async () => {
    const html = await (await tagsOf(api.url, 'agent', { name: `x'></script><script>alert(1)//` })).text();
    expect(html).toContain(
      `render("x&#39;&gt;&lt;/script&gt;&lt;script&gt;alert(1)//", "{{shadowRootId}}")'></script>`,
    );
    expect(html.match(/<script/g)).toHaveLength(1);
  });

  it('exclude packages that the page provides from bundles', async () => {
    const [address] = addressesIn(await (await tagsOf(api.url, 'shared')).text());
    expect(await (await fetch(address)).text()).toContain('"@acme/theme"');
  });

  it.each([
    ['missing', /ui\.missing could not be bundled.*Could not resolve "\.\/ui\/nowhere\.tsx"/s],
    ['broken', /ui\.broken could not be bundled.*ui\/broken\.tsx:1:\d+/s],
    ['outside', /ui\.outside could not be bundled.*must be relative to the project root/s],
  ])('report what is wrong with one that is %s, while the others are served', async (name, message) => {
    const response = await tagsOf(api.url, name);
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ code: 'ui_not_bundled', detail: expect.stringMatching(message) });
    expect((await tagsOf(api.url, 'agent')).status).toBe(200);
  });

  it('are refused under other names, and at other paths', async () => {
    const unknown = await tagsOf(api.url, 'nobody');
    expect([unknown.status, await unknown.text()]).toEqual([404, 'UI not found for agent "nobody"']);
    for (const path of [
      'agent/other.js',
      'agent/..%2F..%2Flanggraph.json',
      'agent/%2Fetc%2Fpasswd',
      '..%2Fui/graph.ts',
    ]) {
      expect([path, (await fetch(`${api.url}/ui/${path}`)).status]).toEqual([path, 404]);
    }
    const nameless = await tagsOf(api.url, 'agent', {});
    expect(nameless.status).toBe(422);
    expect(await nameless.json()).toMatchObject({ errors: [{ path: 'name' }] });
  });

  it('have escaped addresses, whatever the name of the host', async () => {
    const { body } = await api.app.inject({
      method: 'POST',
      url: '/ui/agent',
      headers: { host: 'a"onerror="b.localhost' },
      payload: { name: 'weather' },
    });
    expect(body).toContain('//a%22onerror=%22b.localhost/ui/agent/');
    expect(body).not.toContain('"onerror=');
  });

  it('load in pages that are allowed to use the API, and in no others', async () => {
    const [address] = addressesIn(await (await tagsOf(api.url, 'agent')).text());
    const page = { 'sec-fetch-site': 'cross-site' };
    const own = await fetch(address, { headers: { ...page, origin: 'http://localhost:5173' } });
    expect([own.status, own.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    const foreign = { ...page, origin: 'https://foreign.example' };
    expect((await fetch(address, { headers: foreign })).status).toBe(403);
    expect((await tagsOf(api.url, 'agent', { name: 'weather' }, foreign)).status).toBe(403);
  });

  it('require a key where the API does, except for files, for which a page cannot send one', async () => {
    const { url, close } = await startTestApi({
      GANTRY_CONFIG: app.path('langgraph.json'),
      GANTRY_AUTH: 'on',
      GANTRY_API_KEY: 'dev-key-0123456789',
      GANTRY_PUBLIC_URL: 'https://agents.example/',
    });
    try {
      expect((await tagsOf(url, 'agent')).status).toBe(401);
      const tags = await tagsOf(url, 'agent', undefined, { 'x-api-key': 'dev-key-0123456789' });
      expect(await tags.text()).toContain('src="https://agents.example/ui/agent/entrypoint.js?v=');
      expect((await fetch(`${url}/ui/agent/entrypoint.js`)).status).toBe(200);
    } finally {
      await close();
    }
  });

  it('are disabled by http.disable_ui, and have addresses below http.mount_prefix', async () => {
    const [off, below] = [project({ http: { disable_ui: true } }), project({ http: { mount_prefix: '/agents' } })];
    const apis = await Promise.all(
      [off, below].map(({ path }) => startTestApi({ GANTRY_CONFIG: path('langgraph.json') })),
    );
    try {
      const gone = await tagsOf(apis[0].url, 'agent');
      expect([gone.status, await gone.text()]).toEqual([404, 'Not Found']);
      const { paths } = (await (await fetch(`${apis[0].url}/openapi.json`)).json()) as { paths: object };
      expect(Object.keys(paths).filter((path) => path.startsWith('/ui'))).toEqual([]);
      const [address] = addressesIn(await (await tagsOf(`${apis[1].url}/agents`, 'agent')).text());
      expect(address).toContain('/agents/ui/agent/entrypoint.css');
      expect((await fetch(address)).status).toBe(200);
    } finally {
      await Promise.all(apis.map((each) => each.close()));
      for (const each of [off, below]) each.remove();
    }
  });
});
