import { isSecretName } from '../../../../src/crypto/secret-names';

/** Parts of names that make a field a secret here, beside the names whose values the server seals. */
const SECRET = /(?:api|access|private)[-_]?key|secret|passw|credential|authorization|token$/i;

/**
 * Text of a value in the address, without the fields that are named like secrets: links, the history of the browser and
 * the logs of proxies keep it. Undefined where no field is left.
 */
export function addressTextOf(value: unknown): string | undefined {
  const isSecret = (name: string): boolean => SECRET.test(name) || isSecretName(name);
  const text = JSON.stringify(value, (name, each: unknown) => (isSecret(name) ? undefined : each));
  return text === '{}' ? undefined : text;
}
