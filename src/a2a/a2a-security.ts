import type { AuthSource } from '../config/langgraph-json';
import type { AuthSettings } from '../config/settings/auth';

const API_KEY = 'api_key';
const USER = 'user';
const OAUTH = 'oauth';

/** The fields of a security scheme in OpenAPI that cards have as well. */
interface OpenApiScheme {
  type: string;
  description?: string;
  in?: string;
  name?: string;
  scheme?: string;
  bearerFormat?: string;
  openIdConnectUrl?: string;
  oauth2MetadataUrl?: string;
  flows?: object;
}

/**
 * How callers authenticate, as cards say it: an API key, or what `auth.openapi` of langgraph.json says of the custom auth (a bearer
 * token where it says nothing), and a key beside it where langgraph.json allows keys; without a custom auth, also a token of the
 * OpenID provider, if the operator names one.
 */
export function securityOf(
  { isEnabled, oauth }: Pick<AuthSettings, 'isEnabled' | 'oauth'>,
  source: AuthSource | undefined,
): Record<string, unknown> {
  if (!isEnabled && !source) return {};
  const declared = Object.entries(source?.openapi?.securitySchemes ?? {});
  const users = declared.map(([name, scheme]) => [name, toCardScheme(scheme)] as const);
  const schemes = Object.fromEntries([
    ...(!source ? [] : users.length > 0 ? users : [[USER, toCardScheme({ type: 'http', scheme: 'bearer' })] as const]),
    ...(!source && oauth ? [[OAUTH, openIdConnect(oauth.issuer)] as const] : []),
    ...(!source || source.allowApiKeys ? [[API_KEY, keyScheme()] as const] : []),
  ]);
  const named = source?.openapi?.security ?? Object.keys(schemes).map((name) => ({ [name]: [] }));
  return {
    securitySchemes: schemes,
    securityRequirements: named.map((requirement) => ({
      schemes: Object.fromEntries(Object.entries(requirement).map(([name, scopes]) => [name, { list: scopes }])),
    })),
  };
}

const keyScheme = () =>
  toCardScheme({ type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'A key of the workspace' });

const openIdConnect = (issuer: string) =>
  toCardScheme({
    type: 'openIdConnect',
    openIdConnectUrl: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    description: 'An access token of this provider',
  });

function toCardScheme(scheme: OpenApiScheme): object {
  const { description = '' } = scheme;
  switch (scheme.type) {
    case 'apiKey':
      return { apiKeySecurityScheme: { description, location: scheme.in, name: scheme.name } };
    case 'oauth2': {
      const { flows, oauth2MetadataUrl } = scheme;
      return { oauth2SecurityScheme: { description, flows, oauth2MetadataUrl } };
    }
    case 'openIdConnect':
      return { openIdConnectSecurityScheme: { description, openIdConnectUrl: scheme.openIdConnectUrl } };
    case 'mutualTLS':
      return { mtlsSecurityScheme: { description } };
    default:
      return {
        httpAuthSecurityScheme: {
          description,
          scheme: scheme.scheme ?? 'bearer',
          bearerFormat: scheme.bearerFormat ?? '',
        },
      };
  }
}
