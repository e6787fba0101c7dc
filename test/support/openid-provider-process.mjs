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
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
        scope: 'agents',
      })),
      scopes: ['agents'],
      // A client that registers itself has an id of the provider's: what its tokens say depends on the user.
      extraTokenClaims: (_context, { clientId, accountId }) => claims[clientId] ?? claims[accountId],
      clientDefaults: { id_token_signed_response_alg: 'ES256' },
      features: {
        // Pages with forms, in which any user logs in with any password.
        devInteractions: { enabled: true },
        registration: { enabled: true },
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
