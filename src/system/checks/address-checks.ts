import { ANSWER_TIMEOUT_MS, type Check, compareClock, Problem } from './finding';

/** Headers that browser clients of the API read from answers. */
const EXPOSED_HEADERS = ['content-location', 'x-pagination-total', 'x-pagination-next', 'location'];
/** Where a page under development is usually served from. */
const PAGE_ORIGIN = 'http://localhost:3000';

/** How the API is reached from outside of its process. */
export interface ApiAddress {
  /** Address without the mount prefix; its user information is not shown. */
  url: string;
  /** Prefix of all routes but those for probes; empty for none. */
  mountPrefix: string;
  /** Origins of pages that http.cors of langgraph.json allows; `*` for all. */
  origins: readonly (string | RegExp)[];
}

/** Checks of the address at which workers and pages reach the API: what a proxy in front of it changes shows here. */
export function addressChecks({ url, mountPrefix, origins }: ApiAddress): Check[] {
  const { origin, pathname } = new URL(url);
  const base = origin + pathname.replace(/\/+$/, '');
  const remedy = 'Is GANTRY_API_URL the address of the API, and does a proxy in front of it pass requests on?';
  return [
    { name: 'api', look: () => checkOk(base), remedy },
    { name: 'api clock', look: () => checkClock(base), remedy },
    { name: 'cors', look: () => checkCors(base, mountPrefix, origins), remedy },
  ];
}

async function request(url: string, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
    throw new Problem(
      `${init?.method ?? 'GET'} ${url}: ${cause?.code ?? cause?.message ?? message}`,
      'Is the API running, and is this its address (GANTRY_API_URL)?',
    );
  }
}

async function checkOk(api: string): Promise<string> {
  const { status } = await request(`${api}/ok`);
  if (status !== 200) throw new Problem(`GET ${api}/ok answers ${status}`, 'Look into the log of the API.');
  return `GET ${api}/ok answers 200`;
}

async function checkClock(api: string): Promise<string> {
  const askedAt = Date.now();
  const date = (await request(`${api}/ok`)).headers.get('date');
  if (!date) throw new Problem('the API sends no Date header', 'Is there a proxy that removes it?', 'warning');
  // The header is in whole seconds, so half a second is missing on average.
  return compareClock('the API', Date.parse(date) + 500, askedAt);
}

/** A preflight and a request of a page, as a browser sends them. */
async function checkCors(api: string, mountPrefix: string, origins: ApiAddress['origins']): Promise<string> {
  const named = origins.filter((each) => typeof each === 'string');
  const isOpen = named.includes('*');
  const page = isOpen ? PAGE_ORIGIN : named[0];
  if (page === undefined) {
    return origins.length === 0 ? 'no page of another origin may use the API' : 'pages that match allow_origin_regex';
  }
  const preflight = await request(`${api}${mountPrefix}/threads`, {
    method: 'OPTIONS',
    headers: {
      origin: page,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-api-key,x-tenant-id',
    },
  });
  const remedy = 'Is there a proxy that removes CORS headers? Pages of other origins can not use the API.';
  const allowed = preflight.headers.get('access-control-allow-origin');
  if (!preflight.ok || (allowed !== '*' && allowed !== page)) {
    throw new Problem(
      `the preflight of ${page} is answered ${preflight.status}, allowed: ${allowed ?? 'none'}`,
      remedy,
    );
  }
  const answer = await request(`${api}/ok`, { headers: { origin: page } });
  const exposed = (answer.headers.get('access-control-expose-headers') ?? '').toLowerCase().split(/\s*,\s*/);
  const hidden = EXPOSED_HEADERS.filter((name) => !exposed.includes(name));
  if (hidden.length > 0) throw new Problem(`pages can not read ${hidden.join(', ')}`, remedy);
  return `pages of ${isOpen ? 'any origin' : named.join(', ')} can use the API`;
}
