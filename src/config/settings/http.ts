import { z } from 'zod';
import {
  addressRanges,
  flag,
  httpUrl,
  isLoopback,
  list,
  origin,
  port,
  positiveInt,
  type Values,
  waitLimit,
} from '../variables';

export const httpVariables = {
  GANTRY_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('address that the api listens on; without `GANTRY_AUTH=on` only loopback is allowed'),
  GANTRY_PORT: port.default(2024).describe('port that the api listens on'),
  GANTRY_API_URL: z.url().optional().meta({
    description: 'URL at which the worker reaches the api, for traces and for webhooks with a relative URL',
    shownDefault: 'from host and port',
  }),
  GANTRY_PUBLIC_URL: httpUrl.optional().meta({
    description:
      'URL at which clients reach the api: [agent cards](a2a.md), [components](http.md#components-for-pages)',
    shownDefault: 'from the request',
  }),
  GANTRY_DOCS: z
    .enum(['auto', 'open', 'protected'])
    .default('auto')
    .describe('/docs and /openapi.json: open, protected, or auto: protected, except on loopback'),
  GANTRY_CONSOLE: flag.default(true).describe('the [console](console.md) at `/console`'),
  GANTRY_BODY_LIMIT_BYTES: positiveInt.default(10 * 1024 * 1024).meta({
    description: 'largest request body, except for traces; a larger one is refused with 413',
    shownDefault: '10 MiB',
  }),
  GANTRY_REQUEST_TIMEOUT_SECONDS: positiveInt
    .max(...waitLimit)
    .default(300)
    .describe('time to receive a request with its body; after it the answer is 408'),
  GANTRY_STREAMS_PER_KEY: positiveInt
    .default(10_000)
    .describe('maximum of open streams and waits of one key or user on a replica; more get a 429'),
  GANTRY_TRUSTED_PROXIES: addressRanges.describe(
    'proxies whose `X-Forwarded-*` count: `10.0.0.0/8,loopback`; from others they are ignored',
  ),
  GANTRY_ALLOWED_ORIGINS: list.pipe(z.array(origin)).meta({
    description:
      'origins, separated by commas, whose pages may use the API, in addition to those of [`http.cors`](http.md)',
    shownDefault: 'none',
  }),
  GANTRY_MCP_ALLOWED_HOSTS: list.meta({
    description:
      "host names, beside this machine's and those of `GANTRY_API_URL` and `GANTRY_PUBLIC_URL`, whose pages may use [MCP](mcp.md); `*` for all",
    shownDefault: 'none',
  }),
  FF_V2_EVENT_STREAMING: flag
    .default(true)
    .describe(
      'off: the routes of the [event protocol](event-protocol.md) answer 404, as with `http.disable_event_streaming`',
    ),
  GANTRY_DRAIN_DELAY_SECONDS: z.coerce
    .number()
    .min(0)
    .max(...waitLimit)
    .default(0)
    .describe('how long an api that was asked to stop still serves requests, while `/ready` answers 503'),
  GANTRY_DRAIN_TIMEOUT_SECONDS: z.coerce
    .number()
    .min(0)
    .max(...waitLimit)
    .default(5)
    .describe('time for requests in flight after that'),
  GANTRY_TEST: flag
    .default(false)
    .describe('`POST /internal/truncate` is there ([a server for tests](#a-server-for-tests))'),
};

/** How the api serves HTTP. */
export interface ServerSettings {
  host: string;
  port: number;
  /** Whether only this machine reaches the api. */
  isLoopback: boolean;
  /** Where this deployment's own processes reach its API, for the traces of its runs. */
  apiUrl: string;
  /** Where clients reach this deployment, when their own requests don't say: for the addresses in agent cards. */
  publicUrl: string | undefined;
  /** Whether /docs and /openapi.json ask for a key. */
  docsAreProtected: boolean;
  /** Whether the pages of the console are served; langgraph.json can switch them off with the others about the API. */
  servesConsole: boolean;
  /** The most that a request body may be, but for trace uploads. */
  bodyLimitBytes: number;
  /** Within which a request has to come in, with its body. */
  requestTimeoutMs: number;
  /** Open streams of one API key or user, on each replica. */
  streamsPerKey: number;
  /** Addresses and networks whose X-Forwarded-* headers say where a request came from and where it was sent to. */
  trustedProxies: string[];
  /** Origins whose pages may use the API, beside those of `http.cors`; with authentication off, beside this machine's. */
  allowedOrigins: string[];
  /** Host names from which browsers may use MCP, beside this machine's and the API's own; `*` for all. */
  mcpAllowedHosts: string[];
  /** Whether the event protocol is served; langgraph.json can switch it off as well. */
  servesEventProtocol: boolean;
  /** Between the moment an api stops being ready and the moment it stops taking connections. */
  drainDelayMs: number;
  /** Time for requests in flight when an api stops. */
  drainTimeoutMs: number;
  /** Whether this is a server of a test suite, which may wipe it. */
  isForTests: boolean;
}

export function httpSettings(env: Values<typeof httpVariables>): ServerSettings {
  const { GANTRY_HOST: host, GANTRY_PORT: port, GANTRY_API_URL: url, GANTRY_DOCS: docs } = env;
  return {
    host,
    port,
    isLoopback: isLoopback(host),
    apiUrl: url ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    publicUrl: env.GANTRY_PUBLIC_URL?.replace(/\/+$/, ''),
    docsAreProtected: docs === 'auto' ? !isLoopback(host) : docs === 'protected',
    servesConsole: env.GANTRY_CONSOLE,
    bodyLimitBytes: env.GANTRY_BODY_LIMIT_BYTES,
    requestTimeoutMs: env.GANTRY_REQUEST_TIMEOUT_SECONDS * 1000,
    streamsPerKey: env.GANTRY_STREAMS_PER_KEY,
    trustedProxies: env.GANTRY_TRUSTED_PROXIES,
    allowedOrigins: env.GANTRY_ALLOWED_ORIGINS,
    mcpAllowedHosts: env.GANTRY_MCP_ALLOWED_HOSTS,
    servesEventProtocol: env.FF_V2_EVENT_STREAMING,
    drainDelayMs: env.GANTRY_DRAIN_DELAY_SECONDS * 1000,
    drainTimeoutMs: env.GANTRY_DRAIN_TIMEOUT_SECONDS * 1000,
    isForTests: env.GANTRY_TEST,
  };
}
