import { readFileSync } from 'node:fs';
import { Finding, TIMEOUT_MS } from './finding.mjs';

/**
 * @param {string} address
 * @param {string} namespace
 */
export async function checkTemporal(address, namespace) {
  const { Connection } = await import('@temporalio/client');
  const { TEMPORAL_API_KEY: apiKey, TEMPORAL_TLS: tls } = process.env;
  const read = (/** @type {string} */ name) => (process.env[name] ? readFileSync(process.env[name] ?? '') : undefined);
  const [serverRootCACertificate, crt, key] = ['CA', 'CERT', 'KEY'].map((part) => read(`TEMPORAL_TLS_${part}_PATH`));
  const isTls = apiKey || serverRootCACertificate || crt || ['on', 'true', '1'].includes(tls ?? '');
  let connection;
  try {
    connection = await Connection.connect({
      address,
      apiKey,
      connectTimeout: TIMEOUT_MS,
      tls: isTls ? { serverRootCACertificate, clientCertPair: crt && key ? { crt, key } : undefined } : undefined,
    });
  } catch (error) {
    throw new Finding(`no connection to ${address} (${error.message})`, 'check TEMPORAL_ADDRESS and TEMPORAL_TLS');
  }
  try {
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    await connection.workflowService.describeNamespace({ namespace });
    return `server ${serverVersion} at ${address}, namespace ${namespace}`;
  } catch (error) {
    const text = `namespace ${namespace} at ${address}: ${error.details || error.message}`;
    throw new Finding(text, 'make the namespace, or set TEMPORAL_NAMESPACE to one that exists');
  } finally {
    await connection.close();
  }
}
