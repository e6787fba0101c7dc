import { AsyncLocalStorage } from 'node:async_hooks';

/** A user of the custom auth, as its `authenticate` described them: plain JSON. */
export interface AuthUser {
  identity: string;
  display_name: string;
  is_authenticated: boolean;
  permissions: string[];
  [field: string]: unknown;
}

/** Which rows the statements of a piece of work may touch, and in whose name they change them. */
export interface RequestScope {
  /** The one tenant whose rows exist for this work; undefined: none (a public route). */
  tenantId: string | undefined;
  /** The work is the operator's and crosses tenants (the admin API). */
  isAcrossTenants?: boolean;
  /** Who changes rows, as the audit log will have it (JSON). */
  actor?: string | undefined;
  /** The user whom the handlers of the custom auth decide about; undefined for the holder of an API key. */
  user?: AuthUser | undefined;
  /** Present where the work is a search: it is bounded more tightly, and is cancelled when its client disconnects. */
  search?: SearchScope | undefined;
}

export interface SearchScope {
  /** Calls back when the client has gone; returns how to stop waiting for that. */
  whenGone(callback: () => void): () => void;
}

const scopes = new AsyncLocalStorage<RequestScope | undefined>();

/** Does `work` with the rows of this scope alone: Postgres enforces it, whatever the statements ask for. */
export function inScope<T>(scope: RequestScope, work: () => T): T {
  return scopes.run(scope, work);
}

/**
 * Does `work` outside of every scope, that is with the rows of all tenants, although a request set it off.
 * For what belongs to no tenant or comes before one is known (keys, entitlements, partitions, the backlog of the whole
 * server), and for what serves many requests at once and has checked each before (the event log).
 */
export function acrossTenants<T>(work: () => T): T {
  return scopes.run(undefined, work);
}

/** The scope of the request being served; undefined in sweeps, activities and at start, which cross tenants by design. */
export function currentScope(): RequestScope | undefined {
  return scopes.getStore();
}
