/** Messages between the api process and the process of the user's own routes. */

import type { UserLogLine } from '../graphs/host/user-log';

/** Where the process of the app asks who makes a request for a route of the app's. */
export const CALLER_PATH = '/.gantry/caller';
/** Header that names the caller to the process of the app, or says that it has to ask. Clients can't send it. */
export const CALLER_HEADER = 'x-gantry-caller';
/** The header's value where the app has to ask; `ask.<caller>` names a caller to middleware alone. */
export const NOT_ASKED = 'ask';

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
  /**
   * `middleware`: the app may leave its requests to the API, and lets no route of its own answer a caller that the API doesn't know.
   * `either`: middleware, or a handler, which look alike. `websocket`: a route for handshakes alone.
   */
  part: 'route' | 'middleware' | 'either' | 'websocket';
}

/** How an app reads a path, where it differs from others. */
export interface PathReading {
  /** An escaped slash is a slash to it, as to all apps in Python. */
  readsEscapes?: boolean;
  /** A slash at the end doesn't count: `strict: false` of Hono. */
  dropsLastSlash?: boolean;
}

/** Asks the process to end once it has answered what it was asked. */
export interface ToAppProcess {
  type: 'stop';
}

export type FromAppProcess =
  /** Listening. `routes`: the app's table, in its order; undefined for an app that has none. */
  | ({ type: 'ready'; routes?: AppRoute[] } & PathReading)
  | UserLogLine
  | { type: 'unusable'; message: string }
  | { type: 'stray'; message: string };
