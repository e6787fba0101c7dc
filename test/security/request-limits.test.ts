import { request } from 'node:http';
import { startTestApi, type TestApi } from '../support/api';
import { testConfig } from '../support/config';
import { EXAMPLE_GRAPHS, TEST_GRAPHS } from '../support/gantry';
import { freePort } from '../support/ports';
import { waitFor } from '../support/wait-for';
import { Metrics } from '../../src/metrics/metrics';
import { StatusServer } from '../../worker/status-server';

const KEY = 'key-of-the-default-tenant-0123456789';
const MAX_STREAMS = 3;

/** Sends a request with any Host header, which fetch doesn't allow. */
function statusOf(url: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on('error', reject).end();
  });
}

describe('one key', () => {
  let api: TestApi;
  let thread: string;
  const streams: AbortController[] = [];

  beforeAll(async () => {
    api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_API_KEY: KEY,
      GANTRY_CONFIG: TEST_GRAPHS,
      GANTRY_STREAMS_PER_KEY: String(MAX_STREAMS),
    });
    const created = await ask('/threads', {});
    ({ thread_id: thread } = (await created.json()) as { thread_id: string });
  });

  afterAll(async () => {
    for (const stream of streams) stream.abort();
    await api?.close();
  });

  function ask(path: string, body?: object, signal?: AbortSignal): Promise<Response> {
    return fetch(api.url + path, {
      method: body ? 'POST' : 'GET',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  }

  async function open(): Promise<Response> {
    const stream = new AbortController();
    streams.push(stream);
    return ask(`/threads/${thread}/stream`, undefined, stream.signal);
  }

  it('has a limited number of concurrent streams, and a run is not created for one more', async () => {
    for (let count = 0; count < MAX_STREAMS; count += 1) expect((await open()).status).toBe(200);
    const refused = await ask(`/threads/${thread}/runs/stream`, { assistant_id: 'three' });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.text()).toContain('GANTRY_STREAMS_PER_KEY');
    expect((await open()).status).toBe(429);
    expect(await (await ask(`/threads/${thread}/runs`)).json()).toEqual([]);
    // Requests other than streams are still accepted.
    expect((await ask('/threads/search', {})).status).toBe(200);
  });

  it('can open a stream again when one has ended', async () => {
    streams.shift()?.abort();
    await waitFor('room for a stream', async () => (await open()).status === 200);
    expect((await open()).status).toBe(429);
  });
});

describe('forwarded headers', () => {
  const forwarded = { 'x-forwarded-host': 'agents.example.com', 'x-forwarded-proto': 'https', 'a2a-version': '1.0' };

  async function cardUrl(overrides: Record<string, string>): Promise<string> {
    const api = await startTestApi({ GANTRY_CONFIG: EXAMPLE_GRAPHS, ...overrides });
    try {
      const response = await fetch(`${api.url}/a2a/agent`, { headers: forwarded });
      const { supportedInterfaces } = (await response.json()) as { supportedInterfaces: { url: string }[] };
      return supportedInterfaces[0].url.replace(api.url, 'own');
    } finally {
      await api.close();
    }
  }

  it('are ignored from an untrusted source', async () => {
    expect(await cardUrl({})).toMatch(/^own\/a2a\//);
    expect(await cardUrl({ GANTRY_TRUSTED_PROXIES: '10.0.0.0/8' })).toMatch(/^own\/a2a\//);
  });

  it('report the requested address when they come from a trusted proxy', async () => {
    expect(await cardUrl({ GANTRY_TRUSTED_PROXIES: '10.0.0.0/8,loopback' })).toMatch(
      /^https:\/\/agents\.example\.com\//,
    );
  });

  it.each(['everybody', '10.0.0.0/99', '1.2.3', '10.0.0.0/8/8'])(
    'are trusted from networks only, not from %s',
    (proxies) => {
      expect(() => testConfig('postgres://127.0.0.1/x', { GANTRY_TRUSTED_PROXIES: proxies })).toThrow(
        'GANTRY_TRUSTED_PROXIES',
      );
    },
  );
});

describe('the pages about the API', () => {
  it('connect to this server only', async () => {
    const api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS });
    try {
      const { headers } = await fetch(`${api.url}/docs`);
      expect(headers.get('content-security-policy')).toContain("connect-src 'self';");
    } finally {
      await api.close();
    }
  });
});

describe("a worker's listener", () => {
  it('answers to the names of this machine only', async () => {
    const port = await freePort();
    const config = testConfig('postgres://127.0.0.1/x', { GANTRY_WORKER_PORT: String(port) });
    const server = new StatusServer(config, new Metrics(config), () => true);
    await server.listen();
    try {
      const url = `http://127.0.0.1:${port}/metrics`;
      for (const host of ['localhost', `127.0.0.1:${port}`, '[::1]:1']) expect(await statusOf(url, host)).toBe(200);
      for (const host of ['rebound.example', `127.0.0.1.nip.example:${port}`, '10.0.0.1']) {
        expect(await statusOf(url, host)).toBe(403);
      }
    } finally {
      await server.close();
    }
  });
});
