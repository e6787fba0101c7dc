import { randomUUID } from 'node:crypto';
import type { LangSmithClientName } from './clients';

export interface TraceResources {
  projectId: string;
  projectName: string;
  /** Project of an experiment. */
  experimentId: string;
  /** Root of a trace with a child, in the thread `talk`. */
  rootId: string;
  /** Start of the trace. */
  startTime: string;
  feedbackId: string;
  /** Token of a public link to the trace. */
  shareToken: string;
  /** Link by which feedback can be left. */
  feedbackLink: string;
  newProject: () => Promise<{ id: string; name: string }>;
  newRun: () => Promise<string>;
  newFeedback: () => Promise<string>;
}

/** Arguments by the names of the parameters in Python; a client takes those that its method has. */
type Values = Record<string, unknown>;
type Calls = (resources: TraceResources, client: LangSmithClientName) => Values[] | Promise<Values[]>;

/** Options that no server sees: other addresses and credentials, and the number of attempts. */
export const NOT_SENT = new Set([
  ...['api_key', 'api_url', 'service_key', 'tenant_id', 'authorization', 'cookie', 'workspace_id', 'accept'],
  ...['stop_after_attempt', 'dangerously_allow_filesystem', 'address', 'child_runs', 'kwargs'],
  // Sent by the clients themselves when they read the next page.
  'cursor',
]);

/** Methods that pass on every field of a record. */
export const WITH_ANY_FIELD = new Set(['create_run', 'update_run']);

const FILTER = 'eq(run_type, "chain")';
const filters = { filter: FILTER, trace_filter: FILTER, tree_filter: FILTER };
const NONE = '5b1dbd4e-0000-4000-8000-00000000000e';
const PAST = '2026-01-01T00:00:00Z';
const FUTURE = '2099-01-01T00:00:00Z';
const window = { min_start_time: PAST, max_start_time: FUTURE };

const runFields = {
  ...{ start_time: PAST, end_time: '2026-01-01T00:00:01Z', error: 'none', serialized: { a: 1 }, events: [] },
  ...{ inputs: { a: 1 }, outputs: { b: 2 }, extra: { metadata: { c: 3 } }, tags: ['contract'], attachments: {} },
};

function newRun({ projectName }: TraceResources): Values {
  const id = randomUUID();
  const dotted_order = `20260101T000000000000Z${id}`;
  const place = { id, trace_id: id, dotted_order, project_name: projectName, session_name: projectName };
  return { name: 'contract', run_type: 'chain', ...runFields, ...place };
}

const runQueries: Calls = ({ projectId, rootId }) => [
  {
    ...{ project_ids: [projectId], has_error: false, ids: [rootId], include_subtree_usage: true, is_root: true },
    ...{ run_type: 'chain', selects: ['ID', 'NAME'], trace_id: rootId, page_size: 1, ...filters },
    ...window,
  },
  { project_ids: [projectId], reference_examples: [NONE], selects: ['ID'] },
  { project_ids: [projectId], selects: ['ID'], page_size: 1 },
];

const traceQueries: Calls = ({ projectId, rootId }) => [
  {
    ...{ project_id: projectId, trace_ids: [rootId], selects: ['NAME'], page_size: 1, ...window },
    ...{ trace_filter: FILTER, tree_filter: FILTER },
  },
];

const threadQueries: Calls = ({ projectId }) => [{ project_id: projectId, page_size: 1, ...window, ...filters }];

const oneRun: Calls = ({ rootId, projectId, startTime }) => [
  { run_id: rootId, project_id: projectId, selects: ['NAME'], start_time: startTime },
];

const projectFields = {
  ...{ description: 'Of a test', end_time: FUTURE, extra: { metadata: { a: 1 } } },
  default_dataset_id: NONE,
};
const experimentFields = {
  ...{ reference_dataset_id: NONE, num_examples: 1, num_repetitions: 1, evaluator_keys: ['a'] },
};

function newProjects(trace_tier: string): Calls {
  return () => [
    {
      ...{ id: randomUUID(), name: `made ${randomUUID()}`, type: 'EXPERIMENT', upsert: true, start_time: PAST },
      ...{ kicked_off_by: 'test', trace_tier, ...projectFields, ...experimentFields },
    },
  ];
}

function changedProject(trace_tier: string): Calls {
  return async ({ newProject }) => {
    const { id } = await newProject();
    return [{ project_id: id, session_id: id, name: `changed ${id}`, trace_tier, ...projectFields }];
  };
}

/** Parameters that are refused wherever they are given, with the reason. */
export const REFUSED: Record<string, { value: unknown; why: string; said?: string }> = {
  ai_search: { value: 'slow answers', why: 'no model searches traces' },
  sem_filter: { value: 'eq(name, "a")', why: 'no model searches traces' },
  min_feedback_modified_at: { value: PAST, why: 'filters on feedback cover all of its history' },
  max_feedback_modified_at: { value: FUTURE, why: 'filters on feedback cover all of its history' },
  thread_filter: {
    value: 'eq(thread_id, "talk")',
    why: '`trace_filter` and `tree_filter` find threads by their traces',
  },
  // The clients look for the dataset first.
  reference_dataset_name: { value: 'any', why: 'there are no datasets', said: 'datasets' },
  filter: { value: FILTER, why: 'of `sessions.list_v2`, which doesn’t filter projects by their runs' },
  reference_dataset_id: { value: NONE, why: 'of queries of runs: there are no datasets' },
  tag_value_ids: { value: [NONE], why: 'projects have no tags of a workspace' },
  tag_value_id: { value: [NONE], why: 'projects have no tags of a workspace' },
  longlived_ttl_days: { value: 30, why: 'the retention is the operator’s setting' },
  include_facets: { value: true, why: 'lists have no facets' },
  stats_filter: { value: FILTER, why: 'statistics are of all runs' },
  dataset_version: { value: PAST, why: 'there are no datasets' },
};

/** Parameters that are accepted without an effect, each with the reason. */
export const WITHOUT_EFFECT: Record<string, string> = {
  ...Object.fromEntries(
    ['num_examples', 'num_repetitions', 'evaluator_keys', 'kicked_off_by'].map((name) => [
      name,
      'says how an experiment will run, which the client itself runs',
    ]),
  ),
  dataset_version: 'there are no datasets',
  data_source_type: 'there is one source of statistics',
  extend_trace_retention: 'the retention is the operator’s setting',
  start_time: 'of feedback: its run is found by id',
  session_id: 'of one run: it is found by id',
  limit: 'of one project: it is found by id',
  feedbackConfig: 'of feedback by the JavaScript client, for `feedback_config`: Gantry has no configurations',
};

/** Methods that a client sends to an address that doesn't exist on any server, with the reason. */
export const CLIENT_FAULTS: Record<string, Record<string, string>> = {
  javascript: { list_shared_runs: 'the client leaves out the `?` of the address: `public.runs.query` does the same' },
};

/** The methods that are served, in an order in which one can be called after the other. */
export const SERVED: Record<string, Calls> = {
  info: () => [{}],
  create_run: (resources) => [
    { ...newRun(resources), revision_id: 'r1', parent_run_id: null, reference_example_id: NONE },
  ],
  update_run: async (resources) => {
    const id = await resources.newRun();
    const place = { run_id: id, id, trace_id: id, dotted_order: `20260101T000000000000Z${id}`, parent_run_id: null };
    const project = { session_id: resources.projectId, session_name: resources.projectName };
    return [{ name: 'changed', run_type: 'chain', ...runFields, ...place, ...project, reference_example_id: NONE }];
  },
  batch_ingest_runs: (resources) => {
    const [create, update] = [newRun(resources), newRun(resources)];
    return [{ create: [create], update: [update], run_creates: [create], run_updates: [update] }];
  },
  multipart_ingest: (resources) => [{ create: [newRun(resources)], update: [newRun(resources)] }],
  multipart_ingest_runs: (resources) => [
    {
      run_creates: [newRun(resources)],
      run_updates: [newRun(resources)],
      feedbacks: [{ id: randomUUID(), run_id: resources.rootId, trace_id: resources.rootId, key: 'k', score: 1 }],
    },
  ],
  read_run: ({ rootId, projectId, startTime }) => [
    { run_id: rootId, load_child_runs: true, project_id: projectId, start_time: startTime },
  ],
  list_runs: ({ projectId, projectName, rootId }) => [
    {
      ...{ project_id: projectId, run_type: 'chain', trace_id: rootId, query: 'root', is_root: true, error: false },
      ...{ start_time: PAST, select: ['name'], limit: 1, order: 'desc', execution_order: 1, ...filters },
    },
    { project_name: projectName, parent_run_id: rootId },
    { project_id: projectId, reference_example_id: NONE },
    { project_id: projectId, run_ids: [rootId], id: [rootId] },
  ],
  list_group_runs: ({ projectId, projectName }) => [
    ...[
      {
        project_id: projectId,
        group_by: 'conversation',
        filter: FILTER,
        start_time: PAST,
        end_time: FUTURE,
        limit: 1,
        offset: 0,
      },
    ],
    { project_name: projectName, group_by: 'conversation' },
  ],
  read_thread: ({ projectId, projectName }) => [
    {
      thread_id: 'talk',
      project_id: projectId,
      is_root: true,
      limit: 1,
      select: ['name'],
      filter: FILTER,
      order: 'asc',
    },
    { thread_id: 'talk', project_name: projectName },
  ],
  list_threads: ({ projectId, projectName }) => [
    { project_id: projectId, limit: 1, offset: 0, filter: FILTER, start_time: PAST, is_root: true },
    { project_name: projectName },
  ],
  get_run_stats: ({ projectId, projectName, rootId }) => [
    {
      ...{ project_ids: [projectId], trace: rootId, run_type: 'chain', start_time: PAST, end_time: FUTURE },
      ...{ error: false, query: 'root', is_root: true, data_source_type: 'current', ...filters },
    },
    { project_names: [projectName], parent_run: rootId },
    { project_ids: [projectId], reference_example_ids: [NONE] },
    { project_ids: [projectId], id: [rootId] },
  ],
  share_run: async ({ newRun: other }) => [{ run_id: await other(), share_id: randomUUID() }],
  run_is_shared: ({ rootId }) => [{ run_id: rootId }],
  read_run_shared_link: ({ rootId }) => [{ run_id: rootId }],
  list_shared_runs: ({ shareToken, rootId }) => [{ share_token: shareToken, run_ids: [rootId] }],
  read_shared_run: ({ shareToken, rootId }) => [{ share_token: shareToken, run_id: rootId }],
  unshare_run: async ({ newRun: other }) => [{ run_id: await other() }],
  create_project: () => [
    {
      ...{ project_name: `made ${randomUUID()}`, description: 'Of a test', metadata: { a: 1 }, upsert: true },
      ...{ project_extra: { b: 2 }, ...experimentFields },
    },
  ],
  read_project: ({ projectId, projectName }) => [
    { project_id: projectId, include_stats: true },
    { project_name: projectName },
  ],
  aread_project: ({ projectId, projectName }) => [
    { project_id: projectId, include_stats: true },
    { project_name: projectName },
  ],
  has_project: ({ projectId, projectName }, client) =>
    client === 'javascript'
      ? [{ project_name: projectName }, { project_id: projectId }]
      : [{ project_name: projectName, project_id: projectId }],
  list_projects: ({ projectId, projectName }) => [
    {
      ...{ project_ids: [projectId], name: projectName, name_contains: 'a', include_stats: true, limit: 1 },
      ...{ metadata: { a: 1 }, dataset_version: PAST, reference_free: true },
    },
    { reference_dataset_id: NONE },
  ],
  update_project: async ({ newProject }) => {
    const { id } = await newProject();
    const changes = { description: 'Changed', metadata: { a: 1 }, project_extra: { b: 2 }, end_time: FUTURE };
    return [{ project_id: id, name: `changed ${id}`, ...changes }];
  },
  delete_project: async ({ newProject }) => [
    { project_id: (await newProject()).id },
    { project_name: (await newProject()).name },
  ],
  create_feedback: ({ rootId, projectId, startTime }) => {
    const score = { score: 1, value: 'good', correction: { a: 1 }, comment: 'fine', extra: { b: 2 }, error: false };
    const source = { source_info: { c: 3 }, feedback_source_type: 'model', source_run_id: rootId };
    const ids = { comparative_experiment_id: NONE, feedback_group_id: NONE, feedback_id: randomUUID() };
    const config = { feedback_config: { type: 'freeform' }, extend_trace_retention: true };
    const place = { run_id: rootId, trace_id: rootId, session_id: projectId, start_time: startTime };
    return [
      { key: 'quality', ...score, ...source, ...ids, ...config, ...place },
      { key: 'quality', score: 1, project_id: projectId },
    ];
  },
  read_feedback: ({ feedbackId }) => [{ feedback_id: feedbackId }],
  list_feedback: ({ rootId }) => [
    {
      ...{ run_ids: [rootId], feedback_key: ['quality'], feedback_source_type: ['api'], limit: 1 },
      ...{ feedback_keys: ['quality'], feedback_source_types: ['api'] },
    },
  ],
  update_feedback: ({ feedbackId }) => [
    { feedback_id: feedbackId, score: 0, value: 'bad', correction: { a: 2 }, comment: 'changed' },
  ],
  delete_feedback: async ({ newFeedback }) => [{ feedback_id: await newFeedback() }],
  create_presigned_feedback_token: ({ rootId }) => [
    {
      ...{ run_id: rootId, feedback_key: 'link', expiration: FUTURE, feedback_config: { type: 'freeform' } },
      feedback_id: randomUUID(),
    },
  ],
  create_presigned_feedback_tokens: ({ rootId }) => [
    { run_id: rootId, feedback_keys: ['a', 'b'], expiration: FUTURE, feedback_configs: [{ type: 'freeform' }, null] },
  ],
  list_presigned_feedback_tokens: ({ rootId }) => [{ run_id: rootId, limit: 1 }],
  create_feedback_from_token: ({ feedbackLink }) => [
    { token_or_url: feedbackLink, score: 1, value: 'good', correction: { a: 1 }, comment: 'fine', metadata: { b: 2 } },
  ],
  'runs.query': runQueries,
  'runs.query_v2': runQueries,
  'runs.streaming.query_v2': runQueries,
  'runs.streaming.query_v2_items': runQueries,
  'runs.retrieve': oneRun,
  'runs.retrieve_v2': oneRun,
  'runs.share.create': ({ rootId, projectId }) => [{ run_id: rootId, session_id: projectId, trace_id: rootId }],
  'public.runs.query': ({ shareToken }) => [{ share_token: shareToken, selects: ['NAME'] }],
  'public.runs.retrieve': ({ shareToken, rootId, startTime }) => [
    { share_token: shareToken, run_id: rootId, selects: ['NAME'], start_time: startTime },
  ],
  'runs.share.delete': async ({ newRun: other, projectId }) => [{ trace_id: await other(), session_id: projectId }],
  'traces.query': traceQueries,
  'traces.streaming.query': traceQueries,
  'traces.streaming.query_items': traceQueries,
  'traces.list_runs': ({ rootId, projectId }) => [
    { trace_id: rootId, project_id: projectId, filter: FILTER, selects: ['NAME'], ...window },
  ],
  'threads.query': threadQueries,
  'threads.streaming.query': threadQueries,
  'threads.streaming.query_items': threadQueries,
  'threads.aggregate_stats': ({ projectId }) => [
    { project_id: projectId, select: ['THREAD_COUNT'], stride: { unit: 'DAY', value: 30 }, ...window, ...filters },
  ],
  'threads.stats': ({ projectId }) => [
    { thread_id: 'talk', session_id: projectId, selects: ['TURNS'], filter: FILTER },
  ],
  'threads.list_traces': ({ projectId }) => [
    { thread_id: 'talk', project_id: projectId, selects: ['TURN_NUMBER'], page_size: 1, ...filters },
  ],
  'threads.share.create': ({ projectId }) => [{ thread_id: 'talk', project_id: projectId }],
  'threads.share.retrieve': ({ projectId }) => [{ thread_id: 'talk', project_id: projectId }],
  'threads.share.delete': ({ projectId }) => [{ thread_id: 'talk', project_id: projectId }],
  'sessions.create': newProjects('longlived'),
  'sessions.create_v2': newProjects('LONG_LIVED'),
  'sessions.retrieve': ({ projectId }) => [{ project_id: projectId, include_stats: true, stats_start_time: PAST }],
  'sessions.retrieve_v2': ({ projectId }) => [{ session_id: projectId, include_stats: true, stats_start_time: PAST }],
  'sessions.list_v2': ({ projectId, projectName }) => [
    {
      ...{ id: [projectId], name: projectName, name_contains: 'a', type: ['PROJECT'], metadata: '{"a":1}' },
      ...{ sort_by: 'NAME', sort_order: 'asc', sort_by_feedback_source: 'RUN', include_stats: true, page_size: 1 },
      ...{ stats_start_time: PAST, stats_select: ['RUN_COUNT'], use_approx_stats: true },
    },
    { reference_dataset_id: [NONE], sort_by: 'FEEDBACK', sort_by_feedback_key: 'quality' },
  ],
  'sessions.update': changedProject('longlived'),
  'sessions.update_v2': changedProject('LONG_LIVED'),
  'sessions.resolve': ({ experimentId }) => [{ kind: 'EXPERIMENT', id: experimentId, environment: 'test' }],
  'sessions.delete': async ({ newProject }) => [{ project_id: (await newProject()).id }],
};
