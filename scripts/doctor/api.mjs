import { describeSkew, Finding, TIMEOUT_MS } from './finding.mjs';

/** Headers that browser clients of the API read from answers. */
const EXPOSED_HEADERS = ['content-location', 'x-pagination-total', 'x-pagination-next', 'location'];
const BROWSER_ORIGIN = 'http://localhost:3000';

/**
 * @param {string} url
 * @param {RequestInit} [init]
 */
async function request(url, init) {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    const reason = error.cause?.code ?? error.cause?.message ?? error.message;
    throw new Finding(`${init?.method ?? 'GET'} ${url}: ${reason}`, 'is the API running? npm start');
  }
}

/** @param {string} api */
export async function checkOk(api) {
  const { status } = await request(`${api}/ok`);
  if (status !== 200) throw new Finding(`GET ${api}/ok answers ${status}`, "look into the API's log");
  return `GET ${api}/ok answers 200`;
}

/** @param {string} api */
export async function checkApiClock(api) {
  const askedAt = Date.now();
  const date = (await request(`${api}/ok`)).headers.get('date');
  if (!date) throw new Finding('the API sends no Date header', 'is there a proxy that removes it?', 'WARN');
  // The header is in whole seconds, so half a second is missing on average.
  return describeSkew('the API', Date.parse(date) + 500, askedAt);
}

/** @param {string} api */
export async function checkCors(api) {
  const preflight = await request(`${api}/threads`, {
    method: 'OPTIONS',
    headers: {
      origin: BROWSER_ORIGIN,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-api-key,x-tenant-id',
    },
  });
  const hint = 'a browser page of another origin can not use the API: is there a proxy that removes CORS headers?';
  const allowed = preflight.headers.get('access-control-allow-origin');
  if (!preflight.ok || (allowed !== '*' && allowed !== BROWSER_ORIGIN)) {
    throw new Finding(`the preflight is answered ${preflight.status}, allowed origin ${allowed ?? 'none'}`, hint);
  }
  const answer = await request(`${api}/ok`, { headers: { origin: BROWSER_ORIGIN } });
  const exposed = (answer.headers.get('access-control-expose-headers') ?? '').toLowerCase().split(/\s*,\s*/);
  const hidden = EXPOSED_HEADERS.filter((name) => !exposed.includes(name));
  if (hidden.length > 0) throw new Finding(`pages can not read ${hidden.join(', ')}`, hint);
  return `preflight and exposed headers suit ${BROWSER_ORIGIN}`;
}

/**
 * @param {string} api
 * @param {string | undefined} key
 * @param {string} tenantId
 */
export async function checkAuth(api, key, tenantId) {
  const search = (/** @type {Record<string, string>} */ headers) =>
    request(`${api}/assistants/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"limit":1}',
    });
  const { status: withoutKey } = await search({});
  if (withoutKey === 200) {
    const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(api).hostname);
    if (isLocal) return 'off: the API takes requests from this machine without a key';
    throw new Finding(`${api} takes requests without a key`, 'set GANTRY_AUTH=on');
  }
  if (!key) throw new Finding(`a key is required (${withoutKey})`, 'set GANTRY_API_KEY to check it', 'WARN');
  const { status: withKey } = await search({ 'x-api-key': key, 'x-tenant-id': tenantId });
  if (withKey === 200) return `on: ${withoutKey} without a key, 200 with it`;
  throw new Finding(`${withKey} with the key and tenant ${tenantId}`, 'check GANTRY_API_KEY and GANTRY_TENANT_ID');
}
