import type { AppConfig } from '../config/config';
import { deriveKey } from '../crypto/derive-key';

/** Derived from GANTRY_SECRET_KEY, which stays while the keys of stored secrets rotate. */
export function auditChainKey({ secrets }: AppConfig): Buffer {
  return deriveKey(secrets.key, 'gantry audit chain');
}
