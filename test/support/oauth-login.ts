import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';

/** Redirects and pages between an authorization request and the redirect back to the client. */
const MAX_STEPS = 20;

/**
 * Memory of a connector whose user logs in: the public client registers itself, sends the user to the provider and redeems the
 * code. The user's browser is played by fetch: it follows redirects, keeps cookies and submits the forms.
 */
export class LoginByBrowser implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:1/callback';
  readonly clientMetadata: OAuthClientMetadata = {
    client_name: 'connector',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  /** Address of the authorization request, and the parameters with which the provider redirected back. */
  authorization: URL | undefined;
  callback: URLSearchParams | undefined;
  private client: StoredOAuthClientInformation | undefined;
  private given: StoredOAuthTokens | undefined;
  private verifier = '';
  private discovered: OAuthDiscoveryState | undefined;

  /** @param user name with which the user logs in */
  constructor(private readonly user: string) {}

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.client = client;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.given;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.given = tokens;
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }

  saveDiscoveryState(discovered: OAuthDiscoveryState): void {
    this.discovered = discovered;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.discovered;
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    this.authorization = url;
    this.callback = await this.browse(url);
  }

  private async browse(start: URL): Promise<URLSearchParams> {
    const cookies = new Map<string, string>();
    let url = start;
    let form: URLSearchParams | undefined;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
        ...(form && { method: 'POST', body: form }),
      });
      for (const cookie of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
        cookies.set(name, value);
      }
      const location = response.headers.get('location');
      const page = await response.text();
      if (location?.startsWith(this.redirectUrl)) return new URL(location).searchParams;
      const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
      if (!location && !action) throw new Error(`The provider answered ${response.status}: ${page.slice(0, 500)}`);
      url = new URL(location ?? action!, url);
      form = location ? undefined : this.fillIn(page);
    }
    throw new Error(`The login took more than ${MAX_STEPS} steps`);
  }

  private fillIn(page: string): URLSearchParams {
    const prompt = /name="prompt" value="([^"]+)"/.exec(page)![1];
    return new URLSearchParams({ prompt, ...(prompt === 'login' && { login: this.user, password: 'any' }) });
  }
}
