/** One event of the protocol, before it has its number. */
export interface ProtocolEvent {
  method: string;
  namespace: string[];
  /** Namespace of the graph, where `namespace` is that of a node in it; `null`: the event is about the node alone. */
  graph?: string[] | null;
  /** Name of a `custom` event; absent for others. */
  name?: string;
  node?: string;
  /** JSON text. */
  data: string;
}

/** Names of the channels; there is also `custom:<name>`. */
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

/** Selection of a thread's events. */
export interface EventFilter {
  channels: string[];
  /** Namespaces of the nested graphs whose events are included; all of them when absent. */
  namespaces?: string[][] | undefined;
  /** Number of levels below these namespaces that are included. */
  depth?: number | undefined;
  view?: NamespaceView;
}

/**
 * Namespace of tokens and tools. The library's JavaScript event stream, and so its SDK, has them in the namespace of their
 * node; its Python SDK looks for them in that of the graph, which `graph` gives.
 */
export type NamespaceView = 'node' | 'graph';

/** The view that a client reads, by its `User-Agent`: the SDKs name themselves in it. */
export function viewOf(userAgent: string | undefined): NamespaceView {
  return userAgent?.startsWith('langgraph-sdk-py/') ? 'graph' : 'node';
}

/** Namespace of an event in a view; undefined where the view has no such event. */
function namespaceIn(view: NamespaceView | undefined, { namespace, graph }: ProtocolEvent): string[] | undefined {
  if (view !== 'graph' || graph === undefined) return namespace;
  return graph ?? undefined;
}

/** @see matchesSubscription of @langchain/langgraph-sdk, which narrows the same stream further */
export function isWanted({ channels, namespaces, depth, view }: EventFilter, event: ProtocolEvent): boolean {
  const { method, name } = event;
  const namespace = namespaceIn(view, event);
  if (!namespace) return false;
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
export function toEnvelope(event: ProtocolEvent, seq: number, view: NamespaceView): string {
  const { method, node, data } = event;
  const namespace = namespaceIn(view, event);
  const head = JSON.stringify({ type: 'event', event_id: String(seq), seq, method }).slice(0, -1);
  const params = JSON.stringify({ namespace, timestamp: Date.now(), ...(node !== undefined && { node }) }).slice(0, -1);
  return `${head},"params":${params},"data":${data}}}`;
}
