import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { type DefaultConfigs, defaultConfigsSchema } from '../default-configs';
import { checkpointerTtlSchema, type ThreadTtlSettings } from '../thread-ttl';
import { file, flag, list, positiveInt, jsonText, type Values } from '../variables';

/** `checkpointer.ttl` as in langgraph.json, or the minutes alone. */
const threadTtl = jsonText('must be minutes, or JSON such as {"default_ttl": 43200}')
  .transform((given) => (typeof given === 'number' ? { default_ttl: given } : given))
  .pipe(checkpointerTtlSchema);

const defaultConfigs = jsonText(
  'must be JSON by the name of a graph, such as {"agent": {"configurable": {"model": "small"}}}',
).pipe(defaultConfigsSchema);

export const graphVariables = {
  GANTRY_CONFIG: file
    .prefault('langgraph.json')
    .meta({ description: 'path of the langgraph.json that is served', shownDefault: '`langgraph.json`' }),
  GANTRY_REVISION: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'must be up to 100 letters, digits, dots, dashes, underscores')
    .optional()
    .meta({
      description: 'name of the code, such as a commit, on each run (`metadata.revision_id`)',
      shownDefault: "a hash of the graphs' code",
    }),
  LANGGRAPH_THREAD_TTL: threadTtl.optional().meta({
    description: 'how long threads are kept ([threads](threads.md)): minutes, or JSON as in `langgraph.json`',
    shownDefault: '`checkpointer.ttl`',
  }),
  LANGGRAPH_CONFIG: defaultConfigs.default({}).meta({
    description: 'JSON by graph: the config (and under `context` the context) of its default assistant',
    shownDefault: '',
  }),
  // The hosted platform's default; the library's own, 25, ends agents in the middle of their work.
  LANGGRAPH_DEFAULT_RECURSION_LIMIT: positiveInt
    .default(10_011)
    .describe('limit of steps for runs whose client and graph (`withConfig({ recursionLimit })`) set none'),
  GANTRY_A2A_ASSISTANT: z.string().min(1).optional().meta({
    description: 'the assistant or graph whose card `/.well-known/agent-card.json` serves when the request names none',
    shownDefault: 'the only graph',
  }),
  GANTRY_GRAPH_ENV: list
    .pipe(
      z.array(
        z
          .string()
          .regex(/^[A-Za-z_][A-Za-z0-9_]*\*?$/, 'must be names, or prefixes that end in *, such as MY_TOKEN,MY_APP_*'),
      ),
    )
    .describe('variables that [graph code gets](#environment-of-graph-code), by name or prefix: `MY_TOKEN,MY_APP_*`'),
  GANTRY_GRAPH_MEMORY_MB: z.coerce.number().int().min(64).optional().meta({
    description:
      'MiB of heap of each graph process, which ends where it needs more (its runs are retried); in Python beside what is loaded, and with a `MemoryError`',
    shownDefault: "Node's own limit; none in Python",
  }),
  GANTRY_GRAPH_RECYCLE_MB: z.coerce.number().int().min(64).optional().meta({
    description:
      'MiB of resident memory beyond which a graph process gets no further runs: it ends once its own are over, and another one takes its place',
    shownDefault: 'none',
  }),
  GANTRY_GRAPH_VALUE_LIMIT_BYTES: positiveInt
    .min(1024 * 1024, 'must be at least 1048576')
    .default(64 * 1024 * 1024)
    .meta({
      description:
        'largest event, result or state, as JSON, that is read of a graph process; a run with a larger one ends with an error',
      shownDefault: '67108864 (64 MiB)',
    }),
  GANTRY_GRAPH_UID: z.coerce.number().int().min(1).optional().meta({
    description: 'number of the user under whom graph processes run; needs an api and a worker that run as root',
    shownDefault: "the process's own",
  }),
  GANTRY_GRAPH_GID: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .meta({ description: 'number of their group', shownDefault: "the process's own" }),
  GANTRY_PYTHON: z
    .string()
    .min(1)
    .default('python3')
    .describe('Python interpreter for graphs, with their libraries ([Python](python.md)); `npm start` makes one'),
  GANTRY_CACHE_FOLDER: z.string().min(1).optional().meta({
    description: 'cache for types that graph processes read from graphs; their user must be able to write there',
    shownDefault: 'in the folder for temporary files',
  }),
  GANTRY_PREPARE_SCHEMAS: flag
    .default(true)
    .describe('an api loads the graphs and reads these types after its start; off: only when a request needs them'),
  GANTRY_GRAPH_HOSTS: z
    .enum(['shared', 'per-tenant'])
    .default('shared')
    .describe(
      '`per-tenant`: a graph process serves one tenant for as long as it lives ([below](#environment-of-graph-code))',
    ),
  GANTRY_GRAPH_THREADS_MIN: positiveInt
    .default(1)
    .describe('minimum of graph processes (they were threads when the setting got its name)'),
  GANTRY_GRAPH_THREADS_MAX: positiveInt.optional().meta({
    description:
      'maximum of graph processes; beyond that, runs share processes. One more serves tenants with little work, where there are several',
    shownDefault: 'one a core, 2 to 4',
  }),
};

/** The graphs, and the processes that they run in. */
export interface GraphSettings {
  /** Absolute path of langgraph.json. */
  configPath: string;
  /** The operator's name of this state of the graphs' code, such as a commit; undefined for a hash of the code. */
  revision: string | undefined;
  /** Overrides `checkpointer.ttl` of langgraph.json. */
  threadTtl: ThreadTtlSettings | undefined;
  /** Initial config of the default assistants of graphs. */
  defaultConfigs: DefaultConfigs;
  /** Steps that a run may take where neither its client nor its graph says. */
  recursionLimit: number;
  /** The assistant, or graph, whose agent card the deployment's own well-known address serves. */
  a2aAssistant: string | undefined;
  /** Variables, or prefixes that end in `*`, that graph, app and auth code gets beside those that it always gets. */
  environment: string[];
  /** How graph processes are confined beside their environment. */
  confinement: { messageLimitBytes: number; memoryMb?: number; uid?: number; gid?: number };
  /** User and group of every process for user code; empty where it is this process's own. */
  user: { uid?: number; gid?: number };
  /** Whether a graph process serves one tenant for as long as it lives. */
  isPerTenant: boolean;
  /** The interpreter of graphs written in Python: a path, or a name to look up in PATH. */
  python: string;
  /** Where graph processes keep what they computed, below the project's folder; undefined: in the folder for temporary files. */
  cacheFolder: string | undefined;
  /** Whether an api reads graphs' types after its start, before a request needs their schemas. */
  preparesSchemas: boolean;
  /** Graph processes that are kept ready, and the most of them. */
  threads: { min: number; max: number };
  /** MiB of resident memory beyond which a graph process is replaced; undefined: none is. */
  recycleAboveMb: number | undefined;
}

/** More processes than cores compute no more, and each costs memory; with fewer than two, a busy node holds all runs up. */
const defaultGraphThreads = (): number => Math.min(4, Math.max(2, availableParallelism()));

/** @param executesRuns false: no process is kept ready */
export function graphSettings(env: Values<typeof graphVariables>, executesRuns: boolean): GraphSettings {
  const { GANTRY_GRAPH_MEMORY_MB: memoryMb, GANTRY_GRAPH_UID: uid, GANTRY_GRAPH_GID: gid } = env;
  const user = { ...(uid && { uid }), ...(gid && { gid }) };
  const min = executesRuns ? env.GANTRY_GRAPH_THREADS_MIN : 0;
  return {
    configPath: env.GANTRY_CONFIG,
    revision: env.GANTRY_REVISION,
    threadTtl: env.LANGGRAPH_THREAD_TTL,
    defaultConfigs: env.LANGGRAPH_CONFIG,
    recursionLimit: env.LANGGRAPH_DEFAULT_RECURSION_LIMIT,
    a2aAssistant: env.GANTRY_A2A_ASSISTANT,
    environment: env.GANTRY_GRAPH_ENV,
    confinement: { messageLimitBytes: env.GANTRY_GRAPH_VALUE_LIMIT_BYTES, ...(memoryMb && { memoryMb }), ...user },
    user,
    isPerTenant: env.GANTRY_GRAPH_HOSTS === 'per-tenant',
    python: env.GANTRY_PYTHON,
    cacheFolder: env.GANTRY_CACHE_FOLDER,
    preparesSchemas: env.GANTRY_PREPARE_SCHEMAS,
    threads: { min, max: env.GANTRY_GRAPH_THREADS_MAX ?? Math.max(min, defaultGraphThreads()) },
    recycleAboveMb: env.GANTRY_GRAPH_RECYCLE_MB,
  };
}

/** Problems of the variables in combination. */
export function graphProblems(env: Values<typeof graphVariables>): string[] {
  const { GANTRY_GRAPH_UID: uid, GANTRY_GRAPH_GID: gid } = env;
  const { GANTRY_GRAPH_THREADS_MIN: min, GANTRY_GRAPH_THREADS_MAX: max = min } = env;
  const problems: string[] = [];
  if ((uid !== undefined || gid !== undefined) && process.getuid?.() !== 0) {
    problems.push(
      'GANTRY_GRAPH_UID and GANTRY_GRAPH_GID need a process that runs as root: no other may change its user',
    );
  }
  if ((uid === undefined) !== (gid === undefined)) problems.push('GANTRY_GRAPH_UID and GANTRY_GRAPH_GID go together');
  if (min > max) problems.push('GANTRY_GRAPH_THREADS_MIN must not be above GANTRY_GRAPH_THREADS_MAX');
  return problems;
}
