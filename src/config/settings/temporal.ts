import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { file, flag, httpUrl, type Values } from '../variables';

export const temporalVariables = {
  TEMPORAL_ADDRESS: z.string().min(1).describe('`host:7233`'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default').describe('namespace of the deployment in Temporal'),
  TEMPORAL_API_KEY: z.string().min(1).optional().describe('API key of Temporal; implies TLS'),
  TEMPORAL_TLS: flag.default(false).describe('connect with TLS'),
  TEMPORAL_TLS_CA_PATH: file.optional().describe("file with the server's certificate authority"),
  TEMPORAL_TLS_CERT_PATH: file.optional().describe('file with the client certificate; needs the key as well'),
  TEMPORAL_TLS_KEY_PATH: file.optional().describe('file with the private key of the client certificate'),
  GANTRY_TEMPORAL_UI_URL: httpUrl.optional().meta({
    description: "address of Temporal's own pages, to which the [console](console.md) links; `/info` shows it",
    shownDefault: 'of the Temporal that `npm start` brings',
  }),
};

/** How the processes reach Temporal. */
export interface TemporalSettings {
  /** `host:port`. */
  address: string;
  namespace: string;
  apiKey?: string;
  tls?: { ca?: Buffer; clientCertPair?: { crt: Buffer; key: Buffer } };
}

/** Reads the files of certificates as well. */
export function temporalSettings(env: Values<typeof temporalVariables>): TemporalSettings {
  const read = (path: string | undefined): Buffer | undefined => (path ? readFileSync(path) : undefined);
  const crt = read(env.TEMPORAL_TLS_CERT_PATH);
  const key = read(env.TEMPORAL_TLS_KEY_PATH);
  const ca = read(env.TEMPORAL_TLS_CA_PATH);
  const withTls = env.TEMPORAL_TLS || env.TEMPORAL_API_KEY !== undefined || crt !== undefined || ca !== undefined;
  return {
    address: env.TEMPORAL_ADDRESS,
    namespace: env.TEMPORAL_NAMESPACE,
    ...(env.TEMPORAL_API_KEY && { apiKey: env.TEMPORAL_API_KEY }),
    ...(withTls && { tls: { ...(ca && { ca }), ...(crt && key && { clientCertPair: { crt, key } }) } }),
  };
}

/** Pages of the deployment's namespace in Temporal's own user interface. */
export function temporalUiUrl(env: Values<typeof temporalVariables>): string | undefined {
  const { GANTRY_TEMPORAL_UI_URL: url, TEMPORAL_NAMESPACE: namespace } = env;
  return url && `${url.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}`;
}

/** Problems of the variables in combination. */
export function temporalProblems(env: Values<typeof temporalVariables>): string[] {
  const isHalf = (env.TEMPORAL_TLS_CERT_PATH === undefined) !== (env.TEMPORAL_TLS_KEY_PATH === undefined);
  return isHalf ? ['TEMPORAL_TLS_CERT_PATH and TEMPORAL_TLS_KEY_PATH go together'] : [];
}
