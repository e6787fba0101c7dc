import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse as parseDotenv } from 'dotenv';
import { z } from 'zod';
import { type GraphLanguage, languageOf } from './graph-language';
import { type HttpSection, httpSectionSchema } from './http-section';
import { type GraphMcpSection, graphMcpSectionSchema } from './graph-mcp';
import { absence, locate, modulePath, type ModulePlaces } from './module-path';
import { type WebhookSection, webhookSectionSchema } from './webhook-section';
import { ConfigError } from './config-error';
import type { EmbeddingSource, StoreSettings } from './store-settings';
import { checkpointerTtlSchema, type ThreadTtlSettings } from './thread-ttl';

/**
 * The parts of langgraph.json that Gantry reads; the rest concerns image builds and is left alone.
 * @see https://docs.langchain.com/langsmith/cli#configuration-file
 */
const langgraphJsonSchema = z.looseObject({
  graphs: z
    .record(
      z.string().min(1),
      z.preprocess(
        (entry) => (typeof entry === 'string' ? { path: entry } : entry),
        z.looseObject({
          path: modulePath,
          description: z.string().optional(),
          on_unknown: z.enum(['retry', 'interrupt']).default('retry'),
          mcp: graphMcpSectionSchema.optional(),
          threads: z
            .literal(1, 'must be 1, for all runs in one process of each worker, or absent, for any number')
            .optional(),
        }),
      ),
    )
    .refine((graphs) => Object.keys(graphs).length > 0, 'must name at least one graph')
    .superRefine((graphs, context) => {
      const owners = new Map<string, string>();
      for (const [graphId, { mcp }] of Object.entries(graphs)) {
        mcp?.prompts?.forEach(({ name }, index) => {
          const owner = owners.get(name);
          owners.set(name, graphId);
          if (owner === undefined) return;
          const message = `the graph ${owner} has a prompt of the name ${name}: names must be unique`;
          context.addIssue({ code: 'custom', path: [graphId, 'mcp', 'prompts', index, 'name'], message });
        });
      }
    }),
  dependencies: z.array(z.string()).nullish(),
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
  encryption: z.looseObject({ path: modulePath }).nullish(),
  auth: z
    .looseObject({
      path: modulePath.optional(),
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
  http: httpSectionSchema.nullish(),
  webhooks: webhookSectionSchema.prefault({}),
});

const ONLY_IN_PYTHON =
  "has to be a Python file: the encryption is an Encryption of Python's SDK, whatever the graphs are written in (docs/encryption.md)";

/** `retry`: start it again, with the same idempotency key. `interrupt`: stop before it and let a person decide. */
export type OnUnknown = 'retry' | 'interrupt';

export interface GraphSource {
  graphId: string;
  /** Absolute path of the module. */
  file: string;
  exportName: string;
  language: GraphLanguage;
  description?: string;
  /** How the graph is a tool, and what else it offers to clients of MCP. */
  mcp?: GraphMcpSection;
  /** Action for a node that was running when its worker died. */
  onUnknown: OnUnknown;
  /** Set: all runs of the graph are in one process of each worker, so that they share what its modules keep in memory. */
  threads?: 1;
}

/** The user's own encryption of what is stored. */
export interface EncryptionSource {
  /** Absolute path of the module. */
  file: string;
  exportName: string;
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

/** The parts of langgraph.json that Gantry reads; paths are absolute. */
export interface LanggraphJson {
  /** Path of the file. */
  path: string;
  /** The folders among `dependencies`: Python imports modules from them too. */
  importFolders: string[];
  auth?: AuthSource;
  encryption?: EncryptionSource;
  graphs: GraphSource[];
  store: StoreSettings;
  threadTtl: ThreadTtlSettings;
  ui: UiSettings;
  /** `env`: variables for graph, app and auth code, beside those of `userCodeEnvironment`. */
  env: Record<string, string>;
  /** `http` as it is in the file; HttpSettings says what follows from it. */
  http: HttpSection | undefined;
  /** `webhooks` as it is in the file, its header templates not filled in. */
  webhooks: WebhookSection;
}

/** The text of langgraph.json, read once in a process: settings are read from it before the rest of it is checked. */
export interface ProjectFile {
  path: string;
  /** Undefined: there is no such file. */
  text: string | undefined;
}

export function readProjectFile(path: string): ProjectFile {
  return { path, text: existsSync(path) ? readFileSync(path, 'utf8') : undefined };
}

/**
 * Checks langgraph.json, all of its sections at once.
 * @throws {ConfigError} naming the file and every wrong field, missing module or missing env file.
 */
export function parseLanggraphJson(file: ProjectFile): LanggraphJson {
  const { path } = file;
  const parsed = langgraphJsonSchema.safeParse(contentOf(file));
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${path}: ${issue.path.join('.')}: ${issue.message}`));
  }
  const { data } = parsed;
  const folder = dirname(path);
  const importFolders = foldersAmong(data.dependencies ?? [], folder);
  const places = { folder, importFolders };
  const graphs = Object.entries(data.graphs).map(([graphId, entry]): GraphSource => {
    const { path: source, description, on_unknown: onUnknown, threads, mcp } = entry;
    const module = locate(places, source);
    return {
      graphId,
      ...module,
      language: languageOf(module.file),
      onUnknown,
      ...(description !== undefined && { description }),
      ...(threads !== undefined && { threads }),
      ...(mcp !== undefined && { mcp }),
    };
  });
  const auth = authSource(data.auth, places);
  const encryption = data.encryption ? locate(places, data.encryption.path) : undefined;
  const store = storeSettings(data.store, folder);
  const embed = store.index?.embed;
  const envFile = typeof data.env === 'string' ? resolve(folder, data.env) : undefined;
  const files: [place: string, file: string | undefined][] = [
    ...graphs.map((graph): [string, string] => [`graphs.${graph.graphId}`, graph.file]),
    ['auth.path', auth?.file],
    ['encryption.path', encryption?.file],
    ['store.index.embed', embed?.kind === 'function' ? embed.file : undefined],
    ['http.app', data.http?.app ? locate(places, data.http.app).file : undefined],
  ];
  const problems = files.flatMap(([place, each]) => {
    if (each === undefined) return [];
    if (!existsSync(each)) return [`${path}: ${place}: ${absence(places, each)}`];
    return place === 'encryption.path' && languageOf(each) !== 'python' ? [`${path}: ${place}: ${ONLY_IN_PYTHON}`] : [];
  });
  if (envFile && !existsSync(envFile)) problems.push(`${path}: env: there is no file ${envFile}`);
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    path,
    importFolders,
    graphs,
    env: envFile ? parseDotenv(readFileSync(envFile)) : ((data.env ?? {}) as Record<string, string>),
    store,
    threadTtl: data.checkpointer?.ttl ?? checkpointerTtlSchema.parse({}),
    ui: { sources: data.ui ?? {}, shared: data.ui_config?.shared ?? [] },
    http: data.http ?? undefined,
    webhooks: data.webhooks,
    ...(auth && { auth }),
    ...(encryption && { encryption }),
  };
}

/** The project's own folder is none of them: it is always the first. */
function foldersAmong(dependencies: string[], folder: string): string[] {
  const paths = dependencies.map((dependency) => resolve(folder, dependency));
  return paths.filter((path) => path !== folder && statSync(path, { throwIfNoEntry: false })?.isDirectory());
}

function storeSettings(section: z.infer<typeof langgraphJsonSchema>['store'], folder: string): StoreSettings {
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
  if (module) {
    const [, file, exportName] = module;
    return { kind: 'function', file: resolve(folder, file), exportName, language: languageOf(file) };
  }
  const separator = embed.indexOf(':');
  return { kind: 'provider', provider: embed.slice(0, separator), model: embed.slice(separator + 1), folder };
}

function authSource(auth: z.output<typeof langgraphJsonSchema>['auth'], places: ModulePlaces): AuthSource | undefined {
  if (!auth?.path) return undefined;
  return {
    ...locate(places, auth.path),
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

function contentOf({ path, text }: ProjectFile): unknown {
  if (text === undefined) {
    throw new ConfigError([`${path}: there is no such file; GANTRY_CONFIG names the langgraph.json to serve`]);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigError([`${path}: not valid JSON: ${error instanceof Error ? error.message : String(error)}`]);
  }
}
