import type { EncryptionContext } from '../database/at-rest';
import type { AuthUser } from '../database/request-scope';
import type { HandlerCall } from './sealed-values';

/** Handlers that the module has beside those for values: `hasContext` says whether it derives the context from the user. */
export interface EncryptionModule {
  hasContext: boolean;
}

export type EncryptionQuestion =
  { type: 'transform'; calls: HandlerCall[] } | { type: 'context'; user: AuthUser; context: EncryptionContext };
