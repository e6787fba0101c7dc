import { Injectable } from '@nestjs/common';
import { SecretBox, UnknownSealingKey } from './secret-box';
import { documentContext } from './sealed-fields';
import { isSecretName } from './secret-names';

/** Prefix of each sealed value inside of stored JSON. */
export const SEALED_VALUE = 'gantry-sealed:';
const MASK = '***';
/** Levels of nesting that are searched for secrets; keys aren't kept deeper than this. */
const MAX_DEPTH = 20;

type Replace = (value: unknown, name: string) => unknown;

/**
 * Secrets that callers put into a `configurable` or a `context`, or that the custom auth knows of a user, for their graph: whatever
 * has the name of one. Rows keep
 * them sealed in their place, the API shows `***`, the graph gets them. A sealed value belongs to its tenant and not to
 * one row: an assistant's goes with each run of it.
 */
@Injectable()
export class SecretValues {
  constructor(private readonly box: SecretBox) {}

  /** The same with every secret sealed. What is sealed already stays. */
  seal<T>(tenantId: string, value: T): T {
    return replaced(value, (secret, name) => {
      if (!isSecretName(name) || !isSealable(secret) || this.isSealedHere(tenantId, secret)) return secret;
      return SEALED_VALUE + this.box.seal(JSON.stringify(secret), documentContext(tenantId));
    });
  }

  /** The same as it was given, for the graph. @throws {UnknownSealingKey} if a value's key isn't configured here */
  open<T>(tenantId: string, value: T): T {
    return replaced(value, (sealed) => {
      const opened = this.tryOpen(tenantId, sealed);
      return opened === undefined ? sealed : (JSON.parse(opened) as unknown);
    });
  }

  /** Also under a key that this process lacks: sealed again, the value would reach the graph sealed. */
  private isSealedHere(tenantId: string, value: unknown): boolean {
    try {
      return this.tryOpen(tenantId, value) !== undefined;
    } catch {
      return true;
    }
  }

  private tryOpen(tenantId: string, value: unknown): string | undefined {
    if (!isSealed(value)) return undefined;
    try {
      return this.box.open(value.slice(SEALED_VALUE.length), documentContext(tenantId));
    } catch (error) {
      if (error instanceof UnknownSealingKey) throw error;
      // A text of the caller's own that only looks like one: the graph gets what is stored.
      return undefined;
    }
  }
}

/** The same as the API shows it. */
export function maskSealed<T>(value: T): T {
  return replaced(value, (given) => (isSealed(given) ? MASK : given));
}

/**
 * The given value with each secret that a client sends back as `***` replaced by the sealed one at the same place of the value
 * before; lists stay lists.
 */
export function keepMasked<T>(given: T, before: unknown): T {
  if (given === MASK && isSealed(before)) return before as T;
  if (Array.isArray(given)) {
    const items: unknown[] = Array.isArray(before) ? before : [];
    return given.map((item: unknown, index) => keepMasked(item, items[index])) as T;
  }
  if (!isObject(given) || !isObject(before) || Array.isArray(before)) return given;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, keepMasked(value, before[name])])) as T;
}

function replaced<T>(value: T, replace: Replace, name = '', depth = 0): T {
  const changed = replace(value, name);
  if (changed !== value) return changed as T;
  if (depth >= MAX_DEPTH || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each: unknown) => replaced(each, replace, '', depth + 1)) as T;
  const entries = Object.entries(value).map(([key, each]) => [key, replaced(each as unknown, replace, key, depth + 1)]);
  return Object.fromEntries(entries) as T;
}

function isSealable(value: unknown): boolean {
  return (typeof value === 'string' && value !== '' && value !== MASK) || typeof value === 'number' || isObject(value);
}

function isSealed(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(SEALED_VALUE);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
