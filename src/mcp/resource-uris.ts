/** A resource that clients can read: a thread, or an item of the store. */
export type ResourceAddress = { threadId: string } | { namespace: string[]; key: string };

const THREADS = 'gantry://threads/';
const STORE = 'gantry://store/';

export const THREAD_TEMPLATE = `${THREADS}{thread_id}`;

/** Template of the URIs of the items directly in a namespace. */
export const itemTemplate = (namespace: string[]): string => `${STORE}${toPath(namespace)}/{key}`;

export function toUri(address: ResourceAddress): string {
  return 'threadId' in address
    ? THREADS + encodeURIComponent(address.threadId)
    : STORE + toPath([...address.namespace, address.key]);
}

/** @returns undefined for a URI that isn't one of these resources */
export function parseUri(uri: string): ResourceAddress | undefined {
  try {
    if (uri.startsWith(THREADS)) {
      const threadId = decodeURIComponent(uri.slice(THREADS.length));
      return threadId === '' ? undefined : { threadId };
    }
    if (!uri.startsWith(STORE)) return undefined;
    const labels = uri.slice(STORE.length).split('/').map(decodeURIComponent);
    const namespace = labels.slice(0, -1);
    return namespace.length === 0 ? undefined : { namespace, key: labels.at(-1)! };
  } catch {
    // A percent sign that begins no encoded character.
    return undefined;
  }
}

const toPath = (labels: string[]): string => labels.map(encodeURIComponent).join('/');
