import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { AppConfig } from './config';
import { ConfigError } from './config-error';

/** Groups of routes that langgraph.json can switch off, by the tags that their controllers have. */
const GROUP_TAGS = {
  assistants: ['Assistants'],
  threads: ['Threads'],
  // Without runs there is nothing that a cron could start.
  runs: ['Thread Runs', 'Stateless Runs', 'Crons', 'Event Streaming'],
  crons: ['Crons'],
  store: ['Store'],
  a2a: ['A2A'],
  mcp: ['MCP'],
  ui: ['Generative UI'],
  event_streaming: ['Event Streaming'],
} as const;

type Group = keyof typeof GROUP_TAGS;

const headerPatterns = z
  .looseObject({
    includes: z.array(z.string()).nullish(),
    excludes: z.array(z.string()).nullish(),
    include: z.array(z.string()).nullish(),
    exclude: z.array(z.string()).nullish(),
  })
  .transform(({ includes, include, excludes, exclude }) => ({
    includes: includes ?? include ?? [],
    excludes: excludes ?? exclude ?? [],
  }));

const regularExpression = z.string().transform((text, context) => {
  try {
    // The whole origin has to match, as on the servers whose configuration this is.
    return new RegExp(`^(?:${text})$`);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'not a regular expression' });
    return z.NEVER;
  }
});

const corsSchema = z
  .strictObject({
    allow_origins: z.array(z.string().min(1)).optional(),
    allow_origin_regex: regularExpression.nullish(),
    allow_methods: z.array(z.string().min(1)).optional(),
    allow_headers: z.array(z.string().min(1)).optional(),
    allow_credentials: z.boolean().default(false),
    expose_headers: z.array(z.string().min(1)).default([]),
    max_age: z.number().int().min(0).max(86_400).default(600),
  })
  .refine(({ allow_credentials, allow_origins }) => !allow_credentials || !allow_origins?.includes('*'), {
    path: ['allow_credentials'],
    message: 'together with the origin * every web site could act for its visitors: name the origins',
  });

const off = z.boolean().default(false);

const httpSchema = z.strictObject({
  app: z
    .string()
    .regex(/^.+:[A-Za-z_$][\w$]*$/, 'must be "path/to/file.ts:export"')
    .nullish(),
  disable_assistants: off,
  disable_threads: off,
  disable_runs: off,
  disable_crons: off,
  disable_store: off,
  disable_a2a: off,
  disable_mcp: off,
  disable_meta: off,
  disable_ui: off,
  disable_webhooks: off,
  disable_event_streaming: off,
  cors: corsSchema.nullish(),
  configurable_headers: headerPatterns.nullish(),
  logging_headers: headerPatterns.nullish(),
  middleware_order: z.enum(['middleware_first', 'auth_first']).nullish(),
  enable_custom_route_auth: z.boolean().default(true),
  mount_prefix: z
    .string()
    .regex(/^(\/[A-Za-z0-9._~-]+)*\/?$/, 'must start with / and hold path segments only')
    .transform((prefix) => prefix.replace(/\/$/, ''))
    .refine((prefix) => !/^\/(noauth|ok|metrics|ready)(\/|$)/.test(prefix), 'is reserved')
    .nullish(),
});

const fileSchema = z.looseObject({ http: httpSchema.nullish().transform((http) => http ?? httpSchema.parse({})) });

export interface CorsSettings {
  origins: (string | RegExp)[];
  methods: string[];
  /** Undefined: those that the browser asks for. */
  headers: string[] | undefined;
  credentials: boolean;
  exposedHeaders: string[];
  maxAgeSeconds: number;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Headers that a browser client reads: run ids from the two locations, totals from the two paginations, when to ask again. */
const EXPOSED_HEADERS = [
  'Content-Location',
  'Location',
  'X-Pagination-Total',
  'X-Pagination-Next',
  'X-Request-Id',
  'Mcp-Session-Id',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/** These prove who the caller is: neither a graph nor a log gets them, whatever the patterns say. */
const CREDENTIALS = new Set(['authorization', 'x-api-key', 'x-service-key', 'x-tenant-id']);
const NEVER_LOGGED = new Set([...CREDENTIALS, 'cookie', 'proxy-authorization']);

/** Which headers a list of patterns means; `*` stands for any text, `excludes` wins, case doesn't matter. */
export class HeaderSelection {
  private readonly includes: RegExp[];
  private readonly excludes: RegExp[];

  constructor(
    patterns: { includes: string[]; excludes: string[] },
    private readonly never: ReadonlySet<string>,
  ) {
    this.includes = patterns.includes.map(toExpression);
    this.excludes = patterns.excludes.map(toExpression);
  }

  /** The selected ones, under lower-case names. */
  of(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
    if (this.includes.length === 0) return {};
    const selected: Record<string, string> = {};
    for (const [given, value] of Object.entries(headers)) {
      const name = given.toLowerCase();
      if (value === undefined || this.never.has(name)) continue;
      if (!this.includes.some((pattern) => pattern.test(name))) continue;
      if (this.excludes.some((pattern) => pattern.test(name))) continue;
      selected[name] = Array.isArray(value) ? value.join(', ') : value;
    }
    return selected;
  }
}

function toExpression(pattern: string): RegExp {
  const escaped = pattern
    .toLowerCase()
    .split('*')
    .map((text) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`);
}

/** What the environment says about the same. */
interface Surroundings {
  switchedOff: Group[];
  origins: string[];
}

const NO_SURROUNDINGS: Surroundings = { switchedOff: [], origins: [] };

/** The `http` section of langgraph.json. */
export class HttpSettings {
  /** Module and export of the user's own routes; the file is absolute. */
  readonly app: { file: string; exportName: string } | undefined;
  readonly protectsApp: boolean;
  /** Whether who calls is asked before the app's middleware sees a request, and not only after it. */
  readonly authFirst: boolean;
  readonly cors: CorsSettings;
  /** Request headers that a run's graph finds in its `configurable`. */
  readonly configurableHeaders: HeaderSelection;
  /** Request headers that the log of requests shows. */
  readonly loggedHeaders: HeaderSelection;
  /** Empty, or `/` and what everything is served below. */
  readonly mountPrefix: string;
  /** Whether /info, /metrics, /docs and /openapi.json are off, and /ok is plain. */
  readonly isMetaDisabled: boolean;
  private readonly disabled: ReadonlySet<Group>;
  private readonly disabledTags: ReadonlySet<string>;

  private constructor(section: z.output<typeof httpSchema>, folder: string, { switchedOff, origins }: Surroundings) {
    this.app = section.app ? appOf(section.app, folder) : undefined;
    this.protectsApp = section.enable_custom_route_auth;
    this.authFirst = section.middleware_order === 'auth_first';
    this.cors = corsOf(section.cors ?? undefined, origins);
    const nothing = { includes: [], excludes: [] };
    this.configurableHeaders = new HeaderSelection(section.configurable_headers ?? nothing, CREDENTIALS);
    this.loggedHeaders = new HeaderSelection(section.logging_headers ?? nothing, NEVER_LOGGED);
    this.mountPrefix = section.mount_prefix ?? '';
    this.isMetaDisabled = section.disable_meta;
    const disabled = (Object.keys(GROUP_TAGS) as Group[]).filter((group) => section[`disable_${group}`]);
    this.disabled = new Set([...disabled, ...switchedOff]);
    this.disabledTags = new Set([...this.disabled].flatMap((group) => GROUP_TAGS[group]));
  }

  /** Whether routes of a group are answered; crons need runs. */
  serves(group: Group): boolean {
    return GROUP_TAGS[group].some((tag) => !this.disabledTags.has(tag));
  }

  /** Whether a route with one of these tags is switched off. */
  isDisabled(tags: readonly string[]): boolean {
    return tags.some((tag) => this.disabledTags.has(tag));
  }

  /**
   * Reads the section out of langgraph.json, and what the environment adds to it.
   * @throws {ConfigError} with every problem, or when the file of `http.app` is missing
   */
  static read({
    graphs: { configPath: path },
    http: { servesEventProtocol, allowedOrigins },
  }: AppConfig): HttpSettings {
    // That langgraph.json is missing or broken is the graphs' complaint.
    const file = existsSync(path) ? parseJson(readFileSync(path, 'utf8')) : {};
    const switchedOff: Group[] = servesEventProtocol ? [] : ['event_streaming'];
    return HttpSettings.parse(file, path, { switchedOff, origins: allowedOrigins });
  }

  static parse(file: unknown, path: string, surroundings: Surroundings = NO_SURROUNDINGS): HttpSettings {
    const parsed = fileSchema.safeParse(file);
    if (!parsed.success) {
      throw new ConfigError(parsed.error.issues.map((issue) => `${path}: ${issue.path.join('.')}: ${issue.message}`));
    }
    const settings = new HttpSettings(parsed.data.http, dirname(path), surroundings);
    if (settings.app && !existsSync(settings.app.file)) {
      throw new ConfigError([`${path}: http.app: there is no file ${settings.app.file}`]);
    }
    return settings;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Reported by the reader of the graphs, with the place.
    return {};
  }
}

function appOf(source: string, folder: string): { file: string; exportName: string } {
  const separator = source.lastIndexOf(':');
  return { file: resolve(folder, source.slice(0, separator)), exportName: source.slice(separator + 1) };
}

/**
 * What a key is not given for stays as it is without a section: browser clients work either way.
 * @param more origins beside those of the section
 */
function corsOf(section: z.output<typeof corsSchema> | undefined, more: string[]): CorsSettings {
  const named = section?.allow_origins ?? (section?.allow_origin_regex ? [] : ['*']);
  const all = (values: string[] | undefined): string[] | undefined => (values?.includes('*') ? undefined : values);
  return {
    origins: [...named, ...more, ...(section?.allow_origin_regex ? [section.allow_origin_regex] : [])],
    methods: all(section?.allow_methods) ?? METHODS,
    headers: all(section?.allow_headers),
    credentials: section?.allow_credentials ?? false,
    exposedHeaders: [...new Set([...EXPOSED_HEADERS, ...(section?.expose_headers ?? [])])],
    maxAgeSeconds: section?.max_age ?? 600,
  };
}
