import type { EncryptionContext } from '../database/at-rest';
import type { AuthUser } from '../database/request-scope';
import type { HandlerCall } from './sealed-values';

export interface EncryptionProcessData {
  file: string;
  exportName: string;
}

export type ToEncryptionProcess =
  | { type: 'transform'; id: number; calls: HandlerCall[] }
  | { type: 'context'; id: number; user: AuthUser; context: EncryptionContext }
  | { type: 'ping'; id: number };

export type FromEncryptionProcess =
  /** `hasContext`: whether the module derives the context from the user. */
  | { type: 'ready'; hasContext: boolean }
  | { type: 'unusable'; message: string }
  | { type: 'done'; id: number; result: unknown }
  /** `message` is for the log. */
  | { type: 'failed'; id: number; message: string };
