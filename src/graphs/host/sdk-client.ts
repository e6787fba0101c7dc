import { userCodeScope } from './user-code-scope';

/** Where `new Client()` of @langchain/langgraph-sdk without a URL looks for the server that it runs in. */
const FETCH = Symbol.for('langgraph_api:fetch');
const URL_OF_SERVER = Symbol.for('langgraph_api:url');

/** Variable from which the SDK's client takes its key where none is given. */
const KEY_VARIABLES = ['LANGGRAPH_API_KEY', 'LANGSMITH_API_KEY', 'LANGCHAIN_API_KEY'];

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Lets `new Client()` in user code reach this deployment with the identity of the caller that the code runs for.
 * @param url base address of the API
 * @param fetchApi how it is reached
 */
export function registerSdkClient(url: string, fetchApi: Fetch): void {
  const globals = globalThis as Record<symbol, unknown>;
  globals[URL_OF_SERVER] = url;
  globals[FETCH] = ((input, init = {}) =>
    fetchApi(input, { ...init, headers: withCredentials(new Headers(init.headers)) })) satisfies Fetch;
}

function withCredentials(headers: Headers): Headers {
  const credentials = Object.entries(userCodeScope.getStore()?.credentials ?? {});
  if (credentials.length === 0) return headers;
  // A key for LangSmith is not valid for this server, and the caller is known already.
  if (isFromEnvironment(headers.get('x-api-key'))) headers.delete('x-api-key');
  for (const [name, value] of credentials) if (!headers.has(name)) headers.set(name, value);
  return headers;
}

function isFromEnvironment(key: string | null): boolean {
  return key !== null && KEY_VARIABLES.some((name) => process.env[name]?.trim().replace(/^["']|["']$/g, '') === key);
}
