import createClient from 'openapi-fetch';
import { API_URL } from '../app/base';
import { noteDoubt, noteLost } from '../app/connection';
import { adminKey, credentials, headersOf, isSignedOut } from '../app/session';
import { ApiFailure, UNREACHED } from './failure';
import type { paths } from './schema';

const ROOT = new URL(API_URL).pathname.replace(/\/$/, '');

/** Routes with credentials of their own: a 401 of theirs says nothing about those of the tab. */
const HAS_OWN_CREDENTIALS = /^\/(?:admin\/|metrics$|system\/)/;

/** Whether a route takes the operator's key: those for the operator alone, and findings where the key has been given. */
const isOperators = (route: string): boolean =>
  route.startsWith('/admin/') || (route.startsWith('/system/') && Boolean(adminKey.get()));

/** Whether a proxy has answered because its server doesn't. The server's own answers with such a status are JSON. */
const isOfProxy = ({ status, headers }: Response): boolean =>
  UNREACHED.has(status) && !headers.get('content-type')?.includes('json');

/** Sends a request with the credentials of this tab, and notes what its outcome says about connection and credentials. */
export async function send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  const route = new URL(request.url).pathname.slice(ROOT.length);
  const given = credentials.get();
  const own = given ? headersOf(given) : {};
  const sent = isOperators(route) ? { 'x-api-key': adminKey.get() ?? '' } : own;
  for (const [name, value] of Object.entries(sent)) request.headers.set(name, value);
  let response: Response;
  try {
    response = await fetch(request);
  } catch (error) {
    if (!request.signal.aborted) noteLost();
    throw error;
  }
  if (isOfProxy(response)) noteDoubt();
  if (response.status === 401 && !HAS_OWN_CREDENTIALS.test(route) && (await isRefused(own))) {
    // The answer may be that to credentials before those of now.
    if (credentials.get() === given) isSignedOut.set(true);
  }
  return response;
}

/**
 * Whether the credentials of the tab are refused everywhere. A 401 alone doesn't say so: routes of exports and deliveries
 * take keys, but no tokens of a custom auth.
 */
async function isRefused(headers: Record<string, string>): Promise<boolean> {
  const answer = await fetch(`${API_URL}/api/v1/me`, { headers }).catch(() => undefined);
  return answer?.status === 401;
}

/** Gantry's own routes, typed by its OpenAPI document. */
export const api = createClient<paths>({ baseUrl: API_URL, fetch: (request) => send(request) });

/** Body of an answer, for example `await answerOf(api.GET('/info'))`. Throws the failure of a refused request. */
export async function answerOf<Data>(
  asked: Promise<{ data?: Data; error?: unknown; response: Response }>,
): Promise<Data> {
  const { data, error, response } = await asked;
  if (response.ok) return data as Data;
  throw ApiFailure.from(response, typeof error === 'string' ? error : JSON.stringify(error ?? ''));
}

/** A request outside of both clients, such as one whose answer is no JSON. */
export async function request(path: string, init?: RequestInit): Promise<Response> {
  const response = await send(API_URL + path, init);
  if (!response.ok) throw await ApiFailure.of(response);
  return response;
}
