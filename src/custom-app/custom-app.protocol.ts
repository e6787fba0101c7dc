/** What the api process and the thread of the user's own routes say to each other. */

export interface AppThreadData {
  file: string;
  exportName: string;
  /** Unix socket on which the thread takes requests. */
  socketPath: string;
}

export interface AppRoute {
  method: string;
  path: string;
}

export type FromAppThread =
  /** Listening. `routes`: the app's table, for those that have one (Hono). */
  { type: 'ready'; routes: AppRoute[] } | { type: 'unusable'; message: string } | { type: 'stray'; message: string };
