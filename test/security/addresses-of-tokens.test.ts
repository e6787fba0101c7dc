import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { exportJWK, generateKeyPair, type GenerateKeyPairResult, SignJWT } from 'jose';
import { startTestApi, type TestApi } from '../support/api';
import { ConnectionWatch } from '../support/connection-watch';
import { TEST_GRAPHS } from '../support/gantry';
import { INTERNAL_HOSTS } from '../support/internal-addresses';

const listening = async (server: Server | HttpServer): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};
const closed = (server: Server | HttpServer | undefined): Promise<unknown> =>
  new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));

/** The operator chooses the provider. Addresses in a stranger's token and in a provider's answers are not trusted. */
describe('addresses in what an OpenID provider and its tokens say', () => {
  let provider: HttpServer;
  let issuer = '';
  let keysAt = '';
  let keys: object = {};
  let sink: Server;
  let port = 0;
  let accepted = 0;
  let connections: ConnectionWatch;
  let privateKey: GenerateKeyPairResult['privateKey'];

  beforeAll(async () => {
    sink = createServer((socket) => {
      accepted += 1;
      socket.destroy();
    });
    port = await listening(sink);
    connections = new ConnectionWatch(sink);
    const pair = await generateKeyPair('ES256', { extractable: true });
    privateKey = pair.privateKey;
    keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'test', alg: 'ES256' }] };
    provider = createHttpServer((request, response) => {
      const answer = request.url === '/keys' ? keys : { issuer, jwks_uri: keysAt };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    });
    issuer = `http://127.0.0.1:${await listening(provider)}`;
  });

  beforeEach(() => {
    keysAt = `${issuer}/keys`;
    accepted = 0;
    connections.forget();
  });

  afterAll(async () => {
    connections?.stop();
    provider?.closeAllConnections();
    await Promise.all([closed(provider), closed(sink)]);
  });

  const withApi = async (test: (api: TestApi) => Promise<void>): Promise<void> => {
    const api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_CONFIG: TEST_GRAPHS,
      GANTRY_OAUTH_ISSUER: issuer,
      GANTRY_OAUTH_AUDIENCE: 'gantry',
    });
    try {
      await test(api);
    } finally {
      await api.close();
    }
  };
  const statusFor = async (api: TestApi, token: string): Promise<number> =>
    (await api.app.inject({ url: '/api/v1/me', headers: { authorization: `Bearer ${token}` } })).statusCode;
  const sign = (header: object, claims: object = {}): Promise<string> =>
    new SignJWT({ iss: issuer, aud: 'gantry', sub: 'somebody', ...claims })
      .setExpirationTime('1h')
      .setProtectedHeader({ alg: 'ES256', kid: 'test', ...header })
      .sign(privateKey);
  const attempted = (): string[] => connections.to(port, 80, 443);

  it('are not connected to when a token names them', () =>
    withApi(async (api) => {
      expect(await statusFor(api, await sign({}))).toBe(200);
      const passed: unknown[] = [];
      for (const host of INTERNAL_HOSTS) {
        const url = `http://${host}:${port}/keys`;
        for (const [header, claims, status] of [
          // The key decides, whatever else the token says.
          [{ jku: url, x5u: url }, {}, 200],
          [{ jku: url, kid: 'other' }, {}, 401],
          [{ kid: url }, {}, 401],
          [{}, { iss: url.replace('/keys', '') }, 401],
        ] as const) {
          const answered = await statusFor(api, await sign(header, claims));
          if (answered !== status) passed.push([header, claims, answered]);
        }
      }
      expect(passed).toEqual([]);
      expect([attempted(), accepted]).toEqual([[], 0]);
    }));

  it('are not connected to without TLS when the metadata of the provider names them as the place of its keys', () =>
    withApi(async (api) => {
      const token = await sign({});
      const passed: unknown[] = [];
      for (const host of INTERNAL_HOSTS) {
        keysAt = `http://${host}:${port}/keys`;
        const status = await statusFor(api, token);
        if (status !== 503) passed.push([keysAt, status]);
      }
      expect(passed).toEqual([]);
      expect([attempted(), accepted]).toEqual([[], 0]);
      keysAt = `${issuer}/keys`;
      expect(await statusFor(api, token)).toBe(200);
    }));
});
