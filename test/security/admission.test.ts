import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Reflector } from '@nestjs/core';
import { type Access, ACCESS } from '../../src/auth/tenant';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { addressOf, type Route, routesOf } from '../support/routes';

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

describe('authentication before the body is read', () => {
  let api: TestApi;
  let routes: Route[];

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_AUTH: 'on', GANTRY_API_KEY: KEY, GANTRY_CONFIG: TEST_GRAPHS });
    const reflector = api.app.get(Reflector);
    routes = routesOf(api.app).filter(
      ({ method, handler, owner }) =>
        method !== 'GET' && reflector.getAllAndOverride<Access | undefined>(ACCESS, [handler, owner]) !== 'public',
    );
  });

  afterAll(() => api?.close());

  it('happens on every route that accepts a body', async () => {
    expect(routes.length).toBeGreaterThan(60);
    for (const route of routes) {
      for (const key of [undefined, 'nobody-has-this-key']) {
        const headers = key === undefined ? undefined : { 'x-api-key': key };
        const { status } = await begin(api.url, route.method, addressOf(route.path), headers);
        expect([route.method, route.path, status]).toEqual([route.method, route.path, 401]);
      }
    }
  });

  it('happens where there is no route', async () => {
    expect(await begin(api.url, 'POST', '/no/such/route')).toMatchObject({ status: 404, text: 'Not Found' });
    expect(await begin(api.url, 'POST', '/api/v1/no-such-route')).toMatchObject({
      status: 404,
      text: '{"detail":"Not Found","code":"not_found"}',
    });
    expect(await begin(api.url, 'PUT', '/threads/search')).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  it('lets pages of other origins read the refusal', async () => {
    const { status, headers } = await begin(api.url, 'POST', '/threads/search', { origin: 'https://page.example' });
    expect([status, headers['access-control-allow-origin']]).toEqual([401, '*']);
  });

  it('answers in JSON-RPC where the protocol does', async () => {
    const { status, text } = await begin(api.url, 'POST', '/mcp');
    expect([status, JSON.parse(text)]).toMatchObject([401, { jsonrpc: '2.0', error: { code: -32600 } }]);
  });
});

describe('a request that is admitted', () => {
  const BODY_LIMIT = 10_000;
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi({
      GANTRY_CONFIG: TEST_GRAPHS,
      GANTRY_BODY_LIMIT_BYTES: String(BODY_LIMIT),
      GANTRY_TRACE_LIMIT_BYTES: String(BODY_LIMIT * 10),
      GANTRY_REQUEST_TIMEOUT_SECONDS: '1',
    });
  });

  afterAll(() => api?.close());

  async function send(path: string, body: string | Buffer, headers: Record<string, string> = {}) {
    const response = await fetch(api.url + path, {
      method: 'POST',
      body: typeof body === 'string' ? body : new Uint8Array(body),
      headers: { 'content-type': 'application/json', ...headers },
    });
    return { status: response.status, text: await response.text() };
  }
  const ofLength = (length: number): string => JSON.stringify({ extra: { text: 'x'.repeat(length) } });

  it('has to arrive within the time limit', async () => {
    expect(await begin(api.url, 'POST', '/threads/search')).toMatchObject({ status: 408 });
  });

  it('may be as large as its route allows', async () => {
    const large = ofLength(BODY_LIMIT);
    expect(await send('/threads/search', large)).toMatchObject({
      status: 413,
      text: expect.stringContaining(`${BODY_LIMIT} bytes (GANTRY_BODY_LIMIT_BYTES)`),
    });
    for (const path of ['/api/v1/runs', '/api/v1/runs/batch', '/api/runs']) {
      expect((await send(path, large)).status).toBe(202);
      expect(await send(path, ofLength(BODY_LIMIT * 10))).toMatchObject({
        status: 413,
        text: expect.stringContaining(`${BODY_LIMIT * 10} bytes (GANTRY_TRACE_LIMIT_BYTES)`),
      });
    }
    expect(await send('/api/v1/otel/v1/traces', large)).toMatchObject({ status: 200 });
  });

  it('may decompress to a limited multiple of its size', async () => {
    const gzip = (length: number) => send('/api/v1/runs', gzipSync(ofLength(length)), { 'content-encoding': 'gzip' });
    expect((await gzip(BODY_LIMIT * 2)).status).toBe(202);
    expect(await gzip(BODY_LIMIT * 9)).toMatchObject({ status: 413, text: expect.stringContaining('200 times') });
    const varied = gzipSync(JSON.stringify({ extra: { text: randomBytes(BODY_LIMIT * 3).toString('base64') } }));
    expect((await send('/api/v1/runs', varied, { 'content-encoding': 'gzip' })).status).toBe(202);
  });

  it('is bounded in each part of a multipart upload, and in all of them together', async () => {
    const id = '0193c7f5-0000-7000-8000-000000000000';
    const parts = (contents: [name: string, text: string][]): string =>
      `${contents
        .map(([name, text]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`)
        .join('')}--b--\r\n`;
    const upload = (...contents: [name: string, text: string][]) =>
      send('/api/v1/runs/multipart', parts(contents), { 'content-type': 'multipart/form-data; boundary=b' });
    const deep = '['.repeat(201) + ']'.repeat(201);
    for (const name of [`post.${id}`, `feedback.${id}`, `post.${id}.inputs`]) {
      expect(await upload([name, `{"a":${deep}}`])).toMatchObject({
        status: 422,
        text: expect.stringContaining(`${name}: JSON may be nested 200 levels deep`),
      });
    }
  });

  it.each([
    ['two headers', ['Host: localhost', 'Host: localhost'], '/ok', 400],
    ['a target and a header', ['Host: localhost'], 'http://other.example/ok', 400],
    ['a target and the same header', ['Host: localhost'], 'http://Localhost/ok', 200],
    ['one header', ['Host: localhost'], '/ok', 200],
  ])('may name only one host: %s', async (_, headers, target, status) => {
    const { port } = new URL(api.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`GET ${target} HTTP/1.1\r\n${headers.join('\r\n')}\r\nConnection: close\r\n\r\n`);
    let answer = '';
    for await (const chunk of socket.setEncoding('utf8')) answer += chunk as string;
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });
});
