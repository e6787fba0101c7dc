import { Finding, TIMEOUT_MS } from './finding.mjs';

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

/**
 * Findings of a running Gantry about itself; undefined where it doesn't answer, or not to this caller.
 * @param {string} api
 * @param {string | undefined} key
 * @returns {Promise<{ name: string, state: 'ok' | 'warning' | 'failure', detail: string, remedy: string | null }[] | undefined>}
 */
export async function askFindings(api, key) {
  const { GANTRY_METRICS_TOKEN: token } = process.env;
  const headers = { ...(key && { 'x-api-key': key }), ...(token && { authorization: `Bearer ${token}` }) };
  try {
    // Each check of the route ends within five seconds.
    const response = await fetch(`${api}/system/findings`, { headers, signal: AbortSignal.timeout(2 * TIMEOUT_MS) });
    return response.ok ? (await response.json()).findings : undefined;
  } catch {
    return undefined;
  }
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
