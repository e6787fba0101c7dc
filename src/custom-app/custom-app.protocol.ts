/** What the api process and the process of the user's own routes say to each other. */

import type { UserLogLine } from '../graphs/host/sdk-logger';

export interface AppProcessData {
  file: string;
  exportName: string;
  /** Unix socket on which the process takes requests. */
  socketPath: string;
  /** Unix socket of the API, for what the app passes on or asks for itself. */
  innerSocketPath: string;
}

export interface AppRoute {
  method: string;
  path: string;
}

export type FromAppProcess =
  /** Listening. `routes`: the app's table, in its order; undefined for an app that has none (other than Hono's). */
  | { type: 'ready'; routes?: AppRoute[] }
  | UserLogLine
  | { type: 'unusable'; message: string }
  | { type: 'stray'; message: string };
