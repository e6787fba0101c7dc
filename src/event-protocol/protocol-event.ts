/** One event of the protocol, before it has its number. */
export interface ProtocolEvent {
  method: string;
  namespace: string[];
  /** Name of a `custom` event; absent for others. */
  name?: string;
  node?: string;
  /** JSON text. */
  data: string;
}

/** The names of what can be listened to; `custom:<name>` beside them. */
export const CHANNELS = [
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input',
  'checkpoints',
  'tasks',
  'custom',
] as const;

/** What a listener wants of a thread's events. */
export interface EventFilter {
  channels: string[];
  /** Below which of the nested graphs; all of them when absent. */
  namespaces?: string[][] | undefined;
  /** How far below. */
  depth?: number | undefined;
}

/** @see matchesSubscription of @langchain/langgraph-sdk, which narrows the same stream further */
export function isWanted({ channels, namespaces, depth }: EventFilter, event: ProtocolEvent): boolean {
  const { method, name, namespace } = event;
  const channel = method.startsWith('input.') ? 'input' : method;
  const isListenedTo =
    channels.includes(channel) || (channel === 'custom' && name !== undefined && channels.includes(`custom:${name}`));
  if (!isListenedTo) return false;
  if (!namespaces || namespaces.length === 0) return true;
  return namespaces.some(
    (prefix) => isBelow(namespace, prefix) && (depth === undefined || namespace.length - prefix.length <= depth),
  );
}

/** A segment is `node:task`; a client that knows the node only writes that. */
function isBelow(namespace: string[], prefix: string[]): boolean {
  return prefix.every((segment, index) => {
    const own = namespace[index];
    return own === segment || (own !== undefined && !segment.includes(':') && own.split(':', 1)[0] === segment);
  });
}

/** Its number is its id too, and counts through all runs of the thread. */
export function toEnvelope({ method, namespace, node, data }: ProtocolEvent, seq: number): string {
  const head = JSON.stringify({ type: 'event', event_id: String(seq), seq, method }).slice(0, -1);
  const params = JSON.stringify({ namespace, timestamp: Date.now(), ...(node !== undefined && { node }) }).slice(0, -1);
  return `${head},"params":${params},"data":${data}}}`;
}
