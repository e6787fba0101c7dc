import { ExternalStore } from './external-store';

/** Credentials of requests: an API key, or the token that a custom auth module accepts. */
export interface Credentials {
  kind: 'api_key' | 'token';
  value: string;
  /** Tenant that the routes of exports require; `GET /api/v1/me` reports it. */
  tenantId?: string;
  /** Identity of the caller, which is the same for each token of a user. */
  caller?: string;
}

const PLACE = 'gantry.credentials';
const ADMIN_PLACE = 'gantry.admin-key';

function stored(): Credentials | undefined {
  const text = sessionStorage.getItem(PLACE);
  return text === null ? undefined : (JSON.parse(text) as Credentials);
}

/** Credentials of this tab, kept as long as it is open. */
export const credentials = new ExternalStore<Credentials | undefined>(stored());

/** The operator's key, which only the pages of tenants and keys and the System page send. */
export const adminKey = new ExternalStore<string | undefined>(sessionStorage.getItem(ADMIN_PLACE) ?? undefined);

/** Whether the server refuses the credentials of this tab. */
export const isSignedOut = new ExternalStore(false);

function forgetAdminKey(): void {
  sessionStorage.removeItem(ADMIN_PLACE);
  adminKey.set(undefined);
}

export function signIn(next: Credentials): void {
  if (next.caller !== credentials.get()?.caller) forgetAdminKey();
  sessionStorage.setItem(PLACE, JSON.stringify(next));
  credentials.set(next);
  isSignedOut.set(false);
}

export function signOut(): void {
  sessionStorage.removeItem(PLACE);
  forgetAdminKey();
  credentials.set(undefined);
  isSignedOut.set(true);
}

export function setAdminKey(key: string): void {
  sessionStorage.setItem(ADMIN_PLACE, key);
  adminKey.set(key);
}

export function headersOf({ kind, value, tenantId }: Credentials): Record<string, string> {
  return {
    ...(kind === 'api_key' ? { 'x-api-key': value } : { authorization: `Bearer ${value.replace(/^bearer\s+/i, '')}` }),
    ...(tenantId && { 'x-tenant-id': tenantId }),
  };
}
