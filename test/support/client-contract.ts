import type { Client } from '@langchain/langgraph-sdk';

export interface Resources {
  /** Assistant of the graph `three`, with versions. */
  assistantId: string;
  /** A thread with a run that is done. */
  threadId: string;
  runId: string;
  checkpointId: string;
  /** A thread that waits at a question, with its id. */
  askedThreadId: string;
  interruptId: string;
  /** A run that takes a minute, on a thread of its own. */
  newRun: () => Promise<{ threadId: string; runId: string }>;
  newThread: () => Promise<string>;
  newCron: () => Promise<string>;
  webhook: string;
}

type Values = Record<string, unknown>;

interface Contract {
  /** Calls with every parameter of the method: one, or several if parameters exclude each other. */
  calls: (resources: Resources) => Values[] | Promise<Values[]>;
  /** Reason why the method is not served, and the status that it gets. */
  refused?: { status: number; why: string };
  /** Number of events to read from an endless stream. */
  events?: number;
}

const page = { limit: 5, offset: 0 };

/** Parameters of a run. Alternative spellings, and parameters that exclude each other, have separate calls. */
function runs({ threadId, askedThreadId, interruptId, checkpointId, webhook }: Resources, more: Values = {}): Values[] {
  return [
    {
      ...{ threadId, assistantId: 'three', input: {}, metadata: { of: 'contract' }, config: { tags: ['contract'] } },
      ...{ streamMode: ['values'], streamSubgraphs: true, streamResumable: true, feedbackKeys: ['good'] },
      ...{ durability: 'sync', interruptBefore: ['nobody'], interruptAfter: ['nobody'], multitaskStrategy: 'enqueue' },
      ...{ onCompletion: 'keep', onDisconnect: 'continue', webhook, afterSeconds: 0, ifNotExists: 'create', ...more },
    },
    { threadId, assistantId: 'three', input: {}, context: { a: 1 }, checkpointId, checkpointDuring: true },
    { threadId, assistantId: 'three', input: {}, checkpoint: { checkpoint_id: checkpointId } },
    { threadId: askedThreadId, assistantId: 'ask', command: { resume: { [interruptId]: 'yes' } }, strictResume: true },
  ];
}

/** Parameters of a cron: the options of its runs that the client sends. */
function crons(resources: Resources): Values[] {
  const [run] = runs(resources);
  const { input, metadata, config, streamMode, streamSubgraphs, streamResumable, durability, webhook } = run;
  const { interruptBefore, interruptAfter } = run;
  const schedule = { schedule: '0 0 1 1 *', timezone: 'Europe/Berlin', endTime: '2099-01-01T00:00:00Z', enabled: true };
  const options = { input, metadata, config, streamMode, streamSubgraphs, streamResumable, durability, webhook };
  return [
    { ...schedule, ...options, interruptBefore, interruptAfter, onRunCompleted: 'keep' },
    { schedule: '0 0 1 1 *', context: { a: 1 } },
  ];
}

function newCrons(resources: Resources, more: Values): Values[] {
  const [first, second] = crons(resources);
  const own = { assistantId: 'three', ...more };
  return [
    { ...first, ...own, multitaskStrategy: 'enqueue' },
    { ...second, ...own, checkpointDuring: true },
  ];
}

/** Parameters in the type of a cron that it inherits from that of a run, and that the client doesn't send. */
const NOT_OF_CRONS = [
  ...['checkpointId', 'checkpoint', 'onCompletion', 'onDisconnect', 'afterSeconds', 'ifNotExists', 'command'],
  'strictResume',
];
export const NOT_SENT: Record<string, string[]> = {
  'crons.create': [...NOT_OF_CRONS, 'feedbackKeys'],
  'crons.createForThread': [...NOT_OF_CRONS, 'feedbackKeys'],
  'crons.update': [...NOT_OF_CRONS, 'multitaskStrategy', 'checkpointDuring'],
};

/** Each method of the JavaScript client, in an order in which one can be called after the other. */
export const CONTRACT: Record<string, Contract> = {
  'assistants.create': {
    calls: () => [
      {
        ...{ graphId: 'three', config: { tags: ['contract'] }, metadata: { of: 'contract' }, ifExists: 'do_nothing' },
        ...{ name: 'Contract', description: 'Of a test', assistantId: '5b1dbd4e-0000-4000-8000-000000000001' },
      },
      { graphId: 'three', context: { a: 1 } },
    ],
  },
  'assistants.get': { calls: ({ assistantId }) => [{ assistantId }] },
  'assistants.getGraph': { calls: ({ assistantId }) => [{ assistantId, xray: true }] },
  'assistants.getSchemas': { calls: ({ assistantId }) => [{ assistantId }] },
  'assistants.getSubgraphs': {
    calls: () => [
      { assistantId: 'deep', recurse: true },
      { assistantId: 'deep', namespace: 'middle', recurse: false },
    ],
  },
  'assistants.update': {
    calls: ({ assistantId }) => [
      { assistantId, graphId: 'three', config: { tags: ['b'] }, metadata: { b: 2 }, name: 'B', description: 'B' },
      { assistantId, context: { b: 2 } },
    ],
  },
  'assistants.search': {
    calls: () => [
      {
        ...{ graphId: 'three', name: 'B', metadata: { b: 2 }, ...page, sortBy: 'name', sortOrder: 'asc' },
        select: [
          'assistant_id',
          'graph_id',
          'name',
          'description',
          'config',
          'context',
          'created_at',
          'updated_at',
          'metadata',
          'version',
        ],
      },
    ],
  },
  'assistants.count': { calls: () => [{ graphId: 'three', metadata: {}, name: 'B' }] },
  'assistants.getVersions': { calls: ({ assistantId }) => [{ assistantId, metadata: {}, ...page }] },
  'assistants.setLatest': { calls: ({ assistantId }) => [{ assistantId, version: 1 }] },

  'threads.create': {
    calls: () => [
      {
        ...{
          metadata: { of: 'contract' },
          threadId: '5b1dbd4e-0000-4000-8000-000000000002',
          ifExists: 'do_nothing',
          ttl: 60,
        },
        ...{ graphId: 'three', supersteps: [{ updates: [{ values: {}, asNode: '__input__' }] }] },
      },
    ],
  },
  'threads.get': { calls: ({ threadId }) => [{ threadId, include: ['ttl'] }] },
  'threads.update': {
    calls: ({ threadId }) => [{ threadId, metadata: { b: 2 }, ttl: { ttl: 60, strategy: 'delete' } }],
  },
  'threads.copy': { calls: ({ threadId }) => [{ threadId }] },
  'threads.search': {
    calls: ({ threadId }) => [
      {
        ...{
          metadata: {},
          ids: [threadId],
          ...page,
          status: 'idle',
          sortBy: 'updated_at',
          sortOrder: 'desc',
          values: {},
        },
        extract: { last: 'values.done[-1]' },
        select: [
          'thread_id',
          'created_at',
          'updated_at',
          'state_updated_at',
          'metadata',
          'config',
          'context',
          'status',
          'values',
          'interrupts',
        ],
      },
    ],
  },
  'threads.count': { calls: () => [{ metadata: {}, values: {}, status: 'idle' }] },
  'threads.getState': {
    calls: ({ threadId, checkpointId }) => [
      {
        threadId,
        subgraphs: true,
        select: ['values', 'values.done', 'next', 'tasks', 'metadata', 'created_at', 'interrupts'],
      },
      { threadId, checkpoint: checkpointId, select: ['checkpoint', 'parent_checkpoint'] },
      { threadId, checkpoint: { checkpoint_id: checkpointId }, subgraphs: true, select: ['values.done'] },
    ],
  },
  'threads.getHistory': {
    calls: ({ threadId, checkpointId }) => [
      {
        threadId,
        limit: 5,
        before: { configurable: { checkpoint_id: checkpointId } },
        metadata: {},
        select: ['values.done'],
      },
      { threadId, checkpoint: { checkpoint_ns: '' } },
    ],
  },
  'threads.updateState': {
    calls: ({ threadId, checkpointId }) => [
      { threadId, values: {}, asNode: 'node_3', checkpointId },
      { threadId, values: {}, asNode: 'node_3', checkpoint: { checkpoint_id: checkpointId } },
    ],
  },
  'threads.patchState': {
    calls: ({ threadId }) => [{ threadIdOrConfig: threadId, metadata: { b: 2 } }],
    refused: {
      status: 405,
      why: 'no server has it (the Python dev server answers 405 too); `threads.update` changes the metadata of the thread',
    },
  },
  'threads.joinStream': {
    calls: ({ threadId }) => [{ threadId, lastEventId: '-', streamMode: ['run_modes', 'lifecycle', 'state_update'] }],
    events: 1,
  },

  'runs.create': { calls: (resources) => runs(resources) },
  // Batches are stateless, so there is nothing that a command could resume.
  'runs.createBatch': {
    calls: (resources) => [
      ...runs(resources).flatMap(({ threadId: _thread, command, ...run }) => (command ? [] : [run])),
      { assistantId: 'routed', command: { update: { path: [] } }, strictResume: true },
    ],
  },
  'runs.wait': { calls: (resources) => runs(resources, { streamNamespaces: [''], raiseError: false }) },
  'runs.stream': { calls: (resources) => runs(resources, { streamNamespaces: [''] }) },
  'runs.list': {
    calls: ({ threadId }) => [
      {
        ...{ threadId, ...page, status: 'success' },
        select: [
          'run_id',
          'thread_id',
          'assistant_id',
          'created_at',
          'updated_at',
          'status',
          'metadata',
          'kwargs',
          'multitask_strategy',
          'cancel_reason',
        ],
      },
    ],
  },
  'runs.get': { calls: ({ threadId, runId }) => [{ threadId, runId }] },
  'runs.join': { calls: ({ threadId, runId }) => [{ threadId, runId, cancelOnDisconnect: true }] },
  'runs.joinStream': {
    calls: ({ threadId, runId, checkpointId }) => [
      {
        threadId,
        runId,
        cancelOnDisconnect: true,
        lastEventId: '-1',
        checkpointId,
        streamMode: ['values'],
        streamNamespaces: [''],
      },
    ],
  },
  'runs.cancel': {
    calls: async ({ newRun }) => [{ ...(await newRun()), wait: true, action: 'interrupt', reason: 'taken' }],
  },
  'runs.cancelMany': {
    calls: async ({ newRun }) => {
      const { threadId, runId } = await newRun();
      await newRun();
      return [
        { threadId, runIds: [runId], action: 'interrupt' },
        { status: 'all', action: 'rollback' },
      ];
    },
  },
  'runs.delete': { calls: ({ threadId, runId }) => [{ threadId, runId }] },

  'crons.create': { calls: (resources) => newCrons(resources, {}) },
  'crons.createForThread': { calls: (resources) => newCrons(resources, { threadId: resources.threadId }) },
  'crons.update': {
    calls: async (resources) => {
      const cronId = await resources.newCron();
      return crons(resources).map((each) => ({ ...each, cronId }));
    },
  },
  'crons.search': {
    calls: ({ assistantId, threadId }) => [
      {
        ...{ assistantId, threadId, enabled: true, ...page, sortBy: 'created_at', sortOrder: 'asc', metadata: {} },
        select: [
          'cron_id',
          'assistant_id',
          'thread_id',
          'end_time',
          'schedule',
          'created_at',
          'updated_at',
          'user_id',
          'payload',
          'next_run_date',
          'metadata',
          'timezone',
          'enabled',
          'on_run_completed',
        ],
      },
    ],
  },
  'crons.count': { calls: ({ assistantId, threadId }) => [{ assistantId, threadId, metadata: {} }] },
  'crons.delete': { calls: async ({ newCron }) => [{ cronId: await newCron() }] },

  'store.putItem': {
    calls: () => [{ namespace: ['contract'], key: 'a', value: { text: 'b' }, index: ['text'], ttl: 60 }],
  },
  'store.getItem': { calls: () => [{ namespace: ['contract'], key: 'a', refreshTtl: true }] },
  'store.searchItems': {
    calls: () => [{ namespacePrefix: ['contract'], filter: { text: 'b' }, ...page, query: 'b', refreshTtl: true }],
  },
  'store.listNamespaces': { calls: () => [{ prefix: ['contract'], suffix: ['contract'], maxDepth: 2, ...page }] },
  'store.deleteItem': { calls: () => [{ namespace: ['contract'], key: 'a' }] },

  'threads.prune': { calls: async ({ newThread }) => [{ threadIds: [await newThread()], strategy: 'keep_latest' }] },
  'threads.delete': { calls: async ({ newThread }) => [{ threadId: await newThread() }] },
  'assistants.delete': { calls: ({ assistantId }) => [{ assistantId, deleteThreads: false }] },
};

export type Method = (...args: unknown[]) => unknown;

export function methodOf(client: Client, name: string): Method {
  const [part, method] = name.split('.');
  const owner = client[part as 'threads'] as unknown as Record<string, Method>;
  return (...args) => owner[method](...args);
}
