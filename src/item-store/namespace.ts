import { isStorable, STORABLE_RULE } from '../database/storable-text';
import type { TenantId } from '../database/tenant-id';
import { StoreRefusal } from './store-refusal';

/** Both are part of one B-tree entry, of which Postgres takes 2,704 bytes. */
export const MAX_NAMESPACE_BYTES = 1024;
export const MAX_KEY_BYTES = 1024;

/** The root label that is reserved for LangGraph. */
const RESERVED_ROOT = 'langgraph';
/** Matches any single label in listings of namespaces. */
export const ANY_LABEL = '*';

/**
 * Checks the namespace of an item.
 * @throws {StoreRefusal} naming the label.
 */
export function checkNamespace(namespace: readonly string[]): void {
  if (namespace.length === 0) throw new StoreRefusal('namespace', 'must have at least one label', 'meaning');
  checkLabels(namespace, 'namespace');
  if (namespace[0] === RESERVED_ROOT) {
    throw new StoreRefusal('namespace.0', `the root label "${RESERVED_ROOT}" is reserved`, 'meaning');
  }
}

/**
 * Checks a namespace, or a part of one, for a search.
 * @throws {StoreRefusal} naming the label.
 */
export function checkLabels(labels: readonly string[], field: string): void {
  labels.forEach((label, index) => {
    const path = `${field}.${index}`;
    // Graph code is not held to types.
    if (typeof label !== 'string') throw new StoreRefusal(path, 'a label must be a string');
    if (label === '') throw new StoreRefusal(path, 'a label must not be empty');
    if (label.includes('.')) throw new StoreRefusal(path, `the label "${label}" must not contain a period`);
    if (!isStorable(label)) throw new StoreRefusal(path, `a label ${STORABLE_RULE}`);
  });
  if (Buffer.byteLength(labels.map(escape).join(':')) > MAX_NAMESPACE_BYTES) {
    throw new StoreRefusal(field, `must not be longer than ${MAX_NAMESPACE_BYTES} bytes`);
  }
}

/** @throws {StoreRefusal} */
export function checkKey(key: unknown): void {
  if (typeof key !== 'string') throw new StoreRefusal('key', 'must be a string');
  if (!isStorable(key)) throw new StoreRefusal('key', STORABLE_RULE);
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) {
    throw new StoreRefusal('key', `must not be longer than ${MAX_KEY_BYTES} bytes`);
  }
}

/**
 * A namespace as LangGraph's Postgres store writes it, labels between colons, below the tenant's id: no path of one tenant
 * can be one of another. Unlike there, a label may contain a colon.
 */
export function toPath(tenantId: TenantId, labels: readonly string[]): string {
  return [tenantId, ...labels.map(escape)].join(':');
}

/** The labels of a stored path, without the tenant's id. */
export function fromPath(path: string): string[] {
  return path.split(':').slice(1).map(unescape);
}

/** A label as it is between the colons of a path. */
export function escape(label: string): string {
  return label.replace(/[\\:]/g, (character) => (character === ':' ? '\\c' : '\\\\'));
}

export function unescape(label: string): string {
  return label.replace(/\\(.)/g, (_, character: string) => (character === 'c' ? ':' : character));
}
