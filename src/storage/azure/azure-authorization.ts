import { createHmac } from 'node:crypto';
import type { AzureCredentials } from './azure-schemas';

/** Version of the API that requests are made for. */
const API_VERSION = '2023-11-03';

/** A request before it is authorised; names of headers are in small letters. */
export interface AzureRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
}

/** Adds to a request what shows who asks: a signature by the account's key, or a shared access signature. */
export function authorizeAzure(account: string, credentials: AzureCredentials, request: AzureRequest): AzureRequest {
  const headers = {
    ...request.headers,
    'x-ms-date': new Date().toUTCString(),
    'x-ms-version': API_VERSION,
  };
  if (credentials.sas_token !== undefined) {
    const url = new URL(request.url);
    for (const [name, value] of new URLSearchParams(credentials.sas_token)) url.searchParams.set(name, value);
    return { ...request, headers, url };
  }
  const signature = createHmac('sha256', Buffer.from(credentials.account_key ?? '', 'base64'))
    .update(stringToSign(account, { ...request, headers }))
    .digest('base64');
  return { ...request, headers: { ...headers, authorization: `SharedKey ${account}:${signature}` } };
}

/** Text to sign, as "Authorize with Shared Key" in Azure's reference describes it. */
function stringToSign(account: string, { method, url, headers }: AzureRequest): string {
  const length = headers['content-length'] === '0' ? '' : (headers['content-length'] ?? '');
  const canonicalHeaders = Object.keys(headers)
    .filter((name) => name.startsWith('x-ms-'))
    .sort()
    .map((name) => `${name}:${headers[name]}\n`);
  const parameters = [...url.searchParams].sort(([one], [other]) => (one < other ? -1 : 1));
  return [
    method,
    '', // Content-Encoding
    '', // Content-Language
    length,
    headers['content-md5'] ?? '',
    headers['content-type'] ?? '',
    '', // Date: x-ms-date is in its place
    '', // If-Modified-Since
    '', // If-Match
    '', // If-None-Match
    '', // If-Unmodified-Since
    '', // Range: x-ms-range is in its place
    `${canonicalHeaders.join('')}/${account}${url.pathname}${parameters.map(([name, value]) => `\n${name}:${value}`).join('')}`,
  ].join('\n');
}
