import { Finding, TIMEOUT_MS } from './finding.mjs';

/** @param {string} url */
export async function connectDatabase(url) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: TIMEOUT_MS });
  client.on('error', () => {}); // the failing call reports it as well
  try {
    await client.connect();
  } catch (error) {
    const { hostname, port, pathname } = new URL(url);
    const where = `${hostname}:${port || 5432}${pathname}`;
    throw new Finding(
      `no connection to ${where} (${error.code ?? 'error'}: ${error.message})`,
      'check DATABASE_URL, and that the server runs and lets this user in',
    );
  }
  return client;
}
