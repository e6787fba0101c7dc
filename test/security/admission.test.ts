import { request } from 'node:http';
import { Reflector } from '@nestjs/core';
import { type Access, ACCESS } from '../../src/auth/tenant';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { type Route, routesOf } from '../support/routes';

const NOBODY = '7e4d2c3b-0000-4000-8000-000000000000';
const KEY = 'key-of-the-default-tenant-0123456789';

interface Answer {
  status: number;
  text: string;
  headers: NodeJS.Dict<string | string[]>;
}

/** Sends the head of a request and the beginning of a body that never ends; resolves to the answer that comes nevertheless. */
function begin(url: string, method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, {
      method,
      headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked', ...headers },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode!, text, headers: response.headers });
        sent.destroy();
      });
      response.on('error', reject);
    });
    sent.write('{"a":');
  });
}

const pathOf = ({ path }: Route): string => path.replace(/:\w+/g, NOBODY);

describe('who asks is known before the body is read', () => {
  let api: TestApi;
  let routes: Route[];

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_AUTH: 'on', GANTRY_API_KEY: KEY, GANTRY_CONFIG: TEST_GRAPHS });
    const reflector = api.app.get(Reflector);
    routes = routesOf(api.app).filter(
      ({ method, handler, owner }) =>
        method !== 'GET' &&
        reflector.getAllAndOverride<Access | undefined>(ACCESS, [handler, owner]) !== 'public',
    );
  });

  afterAll(() => api?.close());

  it('on every route that takes a body', async () => {
    expect(routes.length).toBeGreaterThan(60);
    for (const route of routes) {
      for (const key of [undefined, 'nobody-has-this-key']) {
        const headers = key === undefined ? undefined : { 'x-api-key': key };
        const { status } = await begin(api.url, route.method, pathOf(route), headers);
        expect([route.method, route.path, status]).toEqual([route.method, route.path, 401]);
      }
    }
  });

  it('and where there is no route', async () => {
    expect(await begin(api.url, 'POST', '/no/such/route')).toMatchObject({ status: 404, text: 'Not Found' });
    expect(await begin(api.url, 'POST', '/api/v1/no-such-route')).toMatchObject({
      status: 404,
      text: '{"detail":"Not Found"}',
    });
    expect(await begin(api.url, 'PUT', '/threads/search')).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  it('and pages of other origins can read the refusal', async () => {
    const { status, headers } = await begin(api.url, 'POST', '/threads/search', { origin: 'https://page.example' });
    expect([status, headers['access-control-allow-origin']]).toEqual([401, '*']);
  });

  it('in the words of JSON-RPC where the protocol is that', async () => {
    const { status, text } = await begin(api.url, 'POST', '/mcp');
    expect([status, JSON.parse(text)]).toMatchObject([401, { jsonrpc: '2.0', error: { code: -32600 } }]);
  });
});
