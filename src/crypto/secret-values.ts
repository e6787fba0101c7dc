import { Injectable } from '@nestjs/common';
import { SecretBox, UnknownSealingKey } from './secret-box';
import { documentContext } from './sealed-fields';
import { isSecretName } from './secret-names';

/** Prefix of each sealed value inside of stored JSON. */
export const SEALED_VALUE = 'gantry-sealed:';
const MASK = '***';
/** Levels of nesting that are searched for secrets; keys aren't kept deeper than this. */
const MAX_DEPTH = 20;

/** A `***` that stands for no secret, or for one of several. */
export class UnknownMask extends Error {
  override readonly name = 'UnknownMask';

  /** @param path of the field in the request */
  constructor(readonly path: string) {
    super(`${MASK} matches no single item of the stored list: send the value`);
  }
}

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
 * The given value with each secret that a client sends back as `***` replaced by the sealed one: in an object by that
 * of the same name before, in a list by that of the item which is otherwise equal, wherever the client has moved it, or which is the
 * only one that the client has changed.
 * @param path of the value in the request
 * @throws {UnknownMask} for a `***` in a list that isn't that of one item of the list before
 */
export function keepMasked<T>(given: T, before: unknown, path: string): T {
  if (given === MASK && isSealed(before)) return before as T;
  if (Array.isArray(given)) return keepMaskedItems(given, Array.isArray(before) ? before : [], path) as T;
  if (!isObject(given)) return given;
  const known: Record<string, unknown> = isObject(before) && !Array.isArray(before) ? before : {};
  const keep = (name: string, value: unknown): unknown => keepMasked(value, known[name], `${path}.${name}`);
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, keep(name, value)])) as T;
}

/** An index alone identifies no item: the secret of a removed one would go to the receiver of its neighbour. */
function keepMaskedItems(given: unknown[], before: unknown[], path: string): unknown[] {
  const texts = given.map(canonical);
  if (!texts.some(hasMask)) return given;
  const shown = before.map((item) => canonical(maskSealed(item)));
  const places = Map.groupBy(shown.keys(), (index) => shown[index]);
  const changes =
    given.length === before.length ? texts.filter((text, index) => text !== shown[index]).length : undefined;
  return given.map((item, index) => {
    const text = texts[index];
    if (!hasMask(text)) return item;
    if (given.length === before.length && shown[index] === text) return before[index];
    const same = places.get(text) ?? [];
    if (same.length === 1) return before[same[0]];
    // The one change of a list whose other items are in their places is an edit of that item.
    const kept = changes === 1 ? keepMasked(item, before[index], `${path}.${index}`) : item;
    const field = maskedField(kept, `${path}.${index}`);
    if (field === undefined) return kept;
    throw new UnknownMask(field);
  });
}

/** Path of the first `***` that stands in the place of a secret: elsewhere it is a text. */
function maskedField(value: unknown, path: string, name = ''): string | undefined {
  if (value === MASK) return isSecretName(name) ? path : undefined;
  if (!isObject(value)) return undefined;
  for (const [key, each] of Object.entries(value)) {
    const found = maskedField(each, `${path}.${key}`, Array.isArray(value) ? '' : key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** JSON text that is the same for equal values: clients and Postgres change the order of an object's keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (!isObject(each) || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** Whether a value with this JSON text may contain `***`. */
function hasMask(text: string): boolean {
  return text.includes(JSON.stringify(MASK));
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
