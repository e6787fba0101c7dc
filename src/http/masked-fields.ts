import { keepMasked, UnknownMask } from '../crypto/secret-values';
import { invalidField } from './api-error';

/**
 * A field of a request with the secrets that a client sends back as `***` as they are stored.
 * @throws {ApiError} 422 for a `***` of which the secret can't be identified
 */
export function keepMaskedField<T>(given: T, stored: unknown, name: string): T {
  try {
    return keepMasked(given, stored, name);
  } catch (error) {
    if (error instanceof UnknownMask) throw invalidField(error.path, error.message);
    throw error;
  }
}
