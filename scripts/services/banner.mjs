import { join } from 'node:path';
import { readJson } from './json-file.mjs';
import { describeRuntime } from './runtime.mjs';

const NO_S3 =
  'none: exports need a bucket, of their destination or by GANTRY_S3_ENDPOINT; attachments stay in Postgres';

/**
 * Prints where everything is, and a first request to try.
 * @param {import('./settings.mjs').Settings} settings
 * @param {Record<string, any>} endpoints
 * @param {string} key
 */
export function printBanner(settings, endpoints, key) {
  const isAuthOn = settings.auth === 'on';
  const headers = isAuthOn ? ` \\\n      -H 'x-api-key: ${key}' -H 'x-tenant-id: ${endpoints.tenant_id}'` : '';
  const input = { messages: [{ role: 'user', content: 'What can you do?' }] };
  const body = JSON.stringify({ assistant_id: firstGraph(settings.config), input });
  const rows = [
    ...(endpoints.console ? [['Console', endpoints.console]] : []),
    ['API', endpoints.api],
    ['API docs', endpoints.docs],
    ['Temporal UI', endpoints.temporal_ui ?? `none (GANTRY_TEMPORAL_UI_PORT); server at ${endpoints.temporal}`],
    ['S3', endpoints.s3 ? `${endpoints.s3.endpoint}, bucket ${endpoints.s3.bucket}` : NO_S3],
    ['API key', isAuthOn ? key : `${key} (not asked for: GANTRY_AUTH is off)`],
    ['Tenant', endpoints.tenant_id],
    ['Graphs', settings.config],
    ['Runtime', describeRuntime()],
    ['Data, logs', settings.home],
    ['All of it', join(settings.home, 'endpoints.json')],
  ];
  process.stdout.write(`
  Gantry is up.

${rows.map(([label, value]) => `  ${label.padEnd(12)} ${value}`).join('\n')}

  Try:

    curl -s ${endpoints.api}/runs/wait${headers} \\
      -H 'content-type: application/json' \\
      -d '${body}'

  Ctrl-C stops everything; data stays.

`);
}

/** Id of the first graph of a langgraph.json, which the api has read without an error. @param {string} config */
function firstGraph(config) {
  return Object.keys(readJson(config).graphs)[0];
}
