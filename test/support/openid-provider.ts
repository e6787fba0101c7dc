import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { exportJWK, type GenerateKeyPairResult, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

export interface ProviderClient {
  id: string;
  secret: string;
  /** Additional claims of its tokens. */
  claims?: Record<string, unknown>;
}

/** An OpenID provider on loopback whose key the test has as well, for tokens that no provider would give. */
export class OpenIdProvider {
  private constructor(
    private readonly child: ChildProcess,
    readonly issuer: string,
    private readonly key: GenerateKeyPairResult['privateKey'],
  ) {}

  static async start(clients: ProviderClient[]): Promise<OpenIdProvider> {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await exportJWK(privateKey)), kid: 'test', use: 'sig', alg: 'ES256' };
    const child = fork(join(__dirname, 'openid-provider-process.mjs'), { silent: true });
    child.send({
      jwks: { keys: [jwk] },
      clients: clients.map(({ id, secret }) => ({ id, secret })),
      claims: Object.fromEntries(clients.map(({ id, claims }) => [id, claims ?? {}])),
    });
    const [{ issuer }] = (await once(child, 'message')) as [{ issuer: string }];
    return new OpenIdProvider(child, issuer, privateKey);
  }

  /** An access token as the provider gives it. */
  async token({ id, secret }: ProviderClient, resource: string, scope?: string): Promise<string> {
    const response = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource, ...(scope !== undefined && { scope }) }),
    });
    const { access_token } = (await response.json()) as { access_token?: string };
    if (!access_token) throw new Error(`The provider gave no token: ${response.status}`);
    return access_token;
  }

  /** A token with the provider's signature and these claims, undefined ones left out. */
  sign(claims: JWTPayload, header: { alg: string; kid?: string } = { alg: 'ES256', kid: 'test' }): Promise<string> {
    return new SignJWT(claims).setProtectedHeader(header).sign(this.key);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    this.child.kill();
    await once(this.child, 'exit');
  }
}
