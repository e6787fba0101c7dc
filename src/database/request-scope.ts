import { AsyncLocalStorage } from 'node:async_hooks';

/** A user of the custom auth, as its `authenticate` described them: plain JSON. */
export interface AuthUser {
  identity: string;
  display_name: string;
  is_authenticated: boolean;
  permissions: string[];
  [field: string]: unknown;
}

/** The rows that the statements of a piece of work may access, and the actor of their changes. */
export interface RequestScope {
  /** The only tenant whose rows are visible to this work; undefined for none (a public route). */
  tenantId: string | undefined;
  /** The work is the operator's and crosses tenants (the admin API). */
  isAcrossTenants?: boolean;
  /** Actor of changes, in the form of the audit log (JSON). */
  actor?: string | undefined;
  /** The user whom the handlers of the custom auth decide about; undefined for the holder of an API key. */
  user?: AuthUser | undefined;
  /** The header `X-Encryption-Context` as it came. */
  encryptionContext?: string | undefined;
  /** Present if the work is a search, which has a shorter time limit and is cancelled when its client disconnects. */
  search?: SearchScope | undefined;
}

export interface SearchScope {
  /** Calls back when the client has disconnected; returns a function that unsubscribes. */
  whenGone(callback: () => void): () => void;
}

const scopes = new AsyncLocalStorage<RequestScope | undefined>();

/** Runs `work` with the rows of this scope only, which Postgres enforces. */
export function inScope<T>(scope: RequestScope, work: () => T): T {
  return scopes.run(scope, work);
}

/**
 * Runs `work` outside of any scope, with the rows of all tenants, although a request started it. For work that belongs to no
 * tenant or precedes its identification (keys, entitlements, partitions, the backlog of the whole server), and for work that
 * serves many requests at once and has checked each before (the event log).
 */
export function acrossTenants<T>(work: () => T): T {
  return scopes.run(undefined, work);
}

/** The scope of the request being served; undefined in sweeps, activities and at start, which cross tenants by design. */
export function currentScope(): RequestScope | undefined {
  return scopes.getStore();
}
