import type { AppConfig } from '../config/config';
import { deriveKey } from '../crypto/derive-key';

/** GANTRY_SECRET_KEY, which stays while the keys of stored secrets rotate, is what it is derived from. */
export function auditChainKey({ secrets }: AppConfig): Buffer {
  return deriveKey(secrets.key, 'gantry audit chain');
}
