/** Messages between the api process and the process of the user's own routes. */

import type { UserLogLine } from '../graphs/host/user-log';

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
  /** Pattern in the words of Hono's router. */
  path: string;
  /** `middleware`: the app may leave its requests to the API. `websocket`: a route for handshakes alone. */
  part: 'route' | 'middleware' | 'websocket';
}

/** Asks the process to end once it has answered what it was asked. */
export interface ToAppProcess {
  type: 'stop';
}

export type FromAppProcess =
  /**
   * Listening. `routes`: the app's table, in its order; undefined for an app that has none. `readsEscapes`: an escaped slash
   * is a slash to it, as to all apps in Python.
   */
  | { type: 'ready'; routes?: AppRoute[]; readsEscapes?: boolean }
  | UserLogLine
  | { type: 'unusable'; message: string }
  | { type: 'stray'; message: string };
