import type { FastifyRequest } from 'fastify';
import type { OAuthSettings } from '../../config/settings/auth';
import { ApiError } from '../../http/api-error';

export const METADATA_PATH = '/.well-known/oauth-protected-resource';
/** Resources that are protected by themselves, as clients of the MCP server ask for its metadata. */
export const RESOURCES = ['mcp'] as const;

/** The token of `Authorization: Bearer`. */
export function bearerTokenOf({ headers }: FastifyRequest): string | undefined {
  return /^Bearer\s+([\w.~+/-]+=*)\s*$/i.exec(headers.authorization ?? '')?.[1];
}

/**
 * The refusal with what OAuth clients find the provider by (RFC 9728, RFC 6750), in front of what the refusal says itself of keys.
 * @param error returned as it is when it is no refusal of credentials
 */
export function withChallenge(error: unknown, request: FastifyRequest, { baseUrl, scopes }: OAuthSettings): unknown {
  if (!(error instanceof ApiError) || (error.status !== 401 && error.code !== 'insufficient_scope')) return error;
  const resource = RESOURCES.find((each) => request.url.split(/[?/]/)[1] === each);
  const metadata = `${baseUrl}${METADATA_PATH}${resource ? `/${resource}` : ''}`;
  const parameters = [
    ...(error.code === 'invalid_token' || error.code === 'insufficient_scope' ? [`error="${error.code}"`] : []),
    ...(scopes.length > 0 ? [`scope="${scopes.join(' ')}"`] : []),
    `resource_metadata="${metadata}"`,
  ];
  const others = error.headers?.['WWW-Authenticate'];
  const challenge = [`Bearer ${parameters.join(', ')}`, ...(others ? [others] : [])].join(', ');
  return new ApiError(error.status, error.code, error.detail, {
    headers: { ...error.headers, 'WWW-Authenticate': challenge },
    cause: error,
  });
}
