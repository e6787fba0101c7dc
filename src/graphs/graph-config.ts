import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse as parseDotenv } from 'dotenv';
import { z } from 'zod';
import { ConfigError } from '../config/config-error';
import type { EmbeddingSource, StoreSettings } from '../item-store/store-settings';
import { checkpointerTtlSchema, type ThreadTtlSettings } from '../config/thread-ttl';

const graphPath = z.string().regex(/^.+:[A-Za-z_$][\w$]*$/, 'must be "path/to/file.ts:export"');

/**
 * The parts of langgraph.json that Gantry reads; the rest concerns image builds and is left alone.
 * @see https://docs.langchain.com/langsmith/cli#configuration-file
 */
const graphConfigSchema = z.looseObject({
  graphs: z
    .record(
      z.string().min(1),
      z.preprocess(
        (entry) => (typeof entry === 'string' ? { path: entry } : entry),
        z.looseObject({
          path: graphPath,
          description: z.string().optional(),
          on_unknown: z.enum(['retry', 'interrupt']).default('retry'),
          threads: z
            .literal(1, 'must be 1, for all runs in one process of each worker, or absent, for any number')
            .optional(),
        }),
      ),
    )
    .refine((graphs) => Object.keys(graphs).length > 0, 'must name at least one graph'),
  env: z.union([z.record(z.string(), z.string()), z.string()]).optional(),
  store: z
    .looseObject({
      index: z
        .looseObject({
          dims: z.number().int().min(1).max(16_000),
          embed: z
            .string()
            .regex(
              /^[^:].*:.+$/,
              'must be "path/to/file.ts:function" or "provider:model", such as "openai:text-embedding-3-small"',
            ),
          fields: z.array(z.string().min(1)).min(1).default(['$']),
        })
        .nullish(),
      ttl: z
        .looseObject({
          default_ttl: z.number().positive().nullish(),
          refresh_on_read: z.boolean().default(true),
          sweep_interval_minutes: z.number().positive().nullish(),
        })
        .nullish(),
      path: z.never('a store of your own is not supported: Gantry keeps items in its Postgres').optional(),
    })
    .optional(),
  checkpointer: z
    .looseObject({
      ttl: checkpointerTtlSchema.nullish(),
      path: z.never('a saver of your own is not supported: Gantry keeps checkpoints in its Postgres').optional(),
    })
    .optional(),
  ui: z.record(z.string().min(1), z.string().min(1)).optional(),
  ui_config: z.looseObject({ shared: z.array(z.string().min(1)).optional() }).optional(),
  encryption: z
    .never(
      'custom encryption is not supported: it would be left out in silence (docs/security.md says what is encrypted)',
    )
    .optional(),
  auth: z
    .looseObject({
      path: graphPath.optional(),
      disable_studio_auth: z.boolean().default(false),
      allow_langsmith_api_keys: z.boolean().default(false),
      openapi: z
        .looseObject({
          securitySchemes: z.record(z.string(), z.looseObject({ type: z.string() })).default({}),
          security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
          paths: z.record(z.string(), z.record(z.string(), z.looseObject({}))).default({}),
        })
        .nullish(),
      cache: z
        .looseObject({
          cache_keys: z.array(z.string().min(1).toLowerCase()).min(1),
          ttl_seconds: z.number().positive().default(60),
          max_size: z.number().int().positive().default(1_000),
        })
        .nullish(),
    })
    .optional(),
});

/** `retry`: start it again, with the same idempotency key. `interrupt`: stop before it and let a person decide. */
export type OnUnknown = 'retry' | 'interrupt';

export interface GraphSource {
  graphId: string;
  /** Absolute path of the module. */
  file: string;
  exportName: string;
  description?: string;
  /** What happens to a node that was running when its worker died. */
  onUnknown: OnUnknown;
  /** Set: all runs of the graph are in one process of each worker, so that they share what its modules keep in memory. */
  threads?: 1;
}

/** The user's own authentication and authorization. */
export interface AuthSource {
  /** Absolute path of the module. */
  file: string;
  exportName: string;
  /** Whether `x-auth-scheme: langsmith` with an API key makes no Studio user. */
  disableStudioAuth: boolean;
  /** Whether a request without Authorization may come with an API key. */
  allowApiKeys: boolean;
  /** How long an answer of `authenticate` is kept; undefined: it is called for every request. */
  cache?: AuthCache;
  /** How users come in, for the description of the API. */
  openapi?: AuthOpenApi;
}

export interface AuthCache {
  /** Requests that are equal in these headers, in lower case, are the same user's. */
  headers: string[];
  ttlMs: number;
  maxSize: number;
}

export interface AuthOpenApi {
  securitySchemes: Record<string, { type: string }>;
  security?: Record<string, string[]>[];
  /** Path → method → what is said of the operation in place of, or beside, what would be. */
  paths: Record<string, Record<string, object>>;
}

/** Components that are shown beside messages. */
export interface UiSettings {
  /** Name → path of the module that exports them, from the folder of langgraph.json. */
  sources: Record<string, string>;
  /** Packages that the page brings. */
  shared: string[];
}

export interface GraphConfig {
  path: string;
  auth?: AuthSource;
  graphs: GraphSource[];
  store: StoreSettings;
  threadTtl: ThreadTtlSettings;
  ui: UiSettings;
  /** `env`: variables for graph, app and auth code, beside those of `userCodeEnvironment`. */
  env: Record<string, string>;
}

/**
 * Reads langgraph.json.
 * @throws {ConfigError} naming the file and every wrong field, missing graph file or missing env file.
 */
export function readGraphConfig(path: string): GraphConfig {
  const parsed = graphConfigSchema.safeParse(readJson(path));
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${path}: ${issue.path.join('.')}: ${issue.message}`));
  }
  const folder = dirname(path);
  const graphs = Object.entries(parsed.data.graphs).map(([graphId, entry]): GraphSource => {
    const { path: source, description, on_unknown: onUnknown, threads } = entry;
    const separator = source.lastIndexOf(':');
    return {
      graphId,
      file: resolve(folder, source.slice(0, separator)),
      exportName: source.slice(separator + 1),
      onUnknown,
      ...(description !== undefined && { description }),
      ...(threads !== undefined && { threads }),
    };
  });
  const problems = graphs
    .filter(({ file }) => !existsSync(file))
    .map(({ graphId, file }) => `${path}: graphs.${graphId}: there is no file ${file}`);
  const auth = authSource(parsed.data.auth, folder);
  if (auth && !existsSync(auth.file)) problems.push(`${path}: auth.path: there is no file ${auth.file}`);
  const envFile = typeof parsed.data.env === 'string' ? resolve(folder, parsed.data.env) : undefined;
  if (envFile && !existsSync(envFile)) problems.push(`${path}: env: there is no file ${envFile}`);
  const store = storeSettings(parsed.data.store, folder);
  const embed = store.index?.embed;
  if (embed?.kind === 'function' && !existsSync(embed.file)) {
    problems.push(`${path}: store.index.embed: there is no file ${embed.file}`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const env = envFile ? parseDotenv(readFileSync(envFile)) : ((parsed.data.env as Record<string, string>) ?? {});
  const threadTtl = parsed.data.checkpointer?.ttl ?? checkpointerTtlSchema.parse({});
  const ui = { sources: parsed.data.ui ?? {}, shared: parsed.data.ui_config?.shared ?? [] };
  return { path, graphs, env, store, threadTtl, ui, ...(auth && { auth }) };
}

function storeSettings(section: z.infer<typeof graphConfigSchema>['store'], folder: string): StoreSettings {
  const { index, ttl } = section ?? {};
  return {
    ...(index && { index: { dims: index.dims, embed: embeddingSource(index.embed, folder), fields: index.fields } }),
    ...(ttl?.default_ttl != null && { defaultTtlMinutes: ttl.default_ttl }),
    refreshOnRead: ttl?.refresh_on_read ?? true,
    ...(ttl?.sweep_interval_minutes != null && { sweepIntervalMinutes: ttl.sweep_interval_minutes }),
  };
}

/** A provider's model is distinguished from a module by the module's file name. */
function embeddingSource(embed: string, folder: string): EmbeddingSource {
  const module = /^(.+\.\w+):([A-Za-z_$][\w$]*)$/.exec(embed);
  if (module) return { kind: 'function', file: resolve(folder, module[1]), exportName: module[2] };
  const separator = embed.indexOf(':');
  return { kind: 'provider', provider: embed.slice(0, separator), model: embed.slice(separator + 1), folder };
}

function authSource(auth: z.output<typeof graphConfigSchema>['auth'], folder: string): AuthSource | undefined {
  if (!auth?.path) return undefined;
  const separator = auth.path.lastIndexOf(':');
  return {
    file: resolve(folder, auth.path.slice(0, separator)),
    exportName: auth.path.slice(separator + 1),
    disableStudioAuth: auth.disable_studio_auth,
    allowApiKeys: auth.allow_langsmith_api_keys,
    ...(auth.cache && {
      cache: {
        headers: auth.cache.cache_keys,
        ttlMs: auth.cache.ttl_seconds * 1000,
        maxSize: auth.cache.max_size,
      },
    }),
    ...(auth.openapi && { openapi: auth.openapi }),
  };
}

function readJson(path: string): unknown {
  if (!existsSync(path)) {
    throw new ConfigError([`${path}: there is no such file; GANTRY_CONFIG names the langgraph.json to serve`]);
  }
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ConfigError([`${path}: not valid JSON: ${error instanceof Error ? error.message : String(error)}`]);
  }
}
