// A certified OpenID provider, started by messages: its libraries are ESM, which can't be loaded within jest.
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

process.on('message', ({ jwks, clients, claims }) => {
  const server = createServer((request, response) => handle(request, response));
  let handle;
  server.listen(0, '127.0.0.1', () => {
    const issuer = `http://127.0.0.1:${server.address().port}`;
    const provider = new Provider(issuer, {
      jwks,
      clients: clients.map(({ id, secret }) => ({
        client_id: id,
        client_secret: secret,
        id_token_signed_response_alg: 'ES256',
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
        scope: 'agents',
      })),
      scopes: ['agents'],
      extraTokenClaims: (_context, { clientId }) => claims[clientId],
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_context, resource) => ({
            audience: resource,
            scope: 'agents',
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256' } },
          }),
        },
      },
    });
    handle = provider.callback();
    process.send({ issuer });
  });
});
process.on('disconnect', () => process.exit(0));
