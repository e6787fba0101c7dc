import { dirname } from 'node:path';
import { z } from 'zod';
import type { AppConfig } from './config';
import { ConfigError } from './config-error';
import { type CorsSection, type HttpSection, httpSectionSchema } from './http-section';
import { locate, type ModuleExport, type ModulePlaces } from './module-path';

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

const fileSchema = z.looseObject({ http: httpSectionSchema.nullish() });

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
/** The caller's position in a trace, as LangSmith's clients send it: the run's trace continues it. */
const TRACING = new Set(['langsmith-trace', 'baggage']);
const NEVER_LOGGED = new Set([...CREDENTIALS, 'cookie', 'proxy-authorization']);

/**
 * Which headers a list of patterns means, and those that are `always` selected; `*` stands for any text, `excludes` wins, case
 * doesn't matter.
 */
export class HeaderSelection {
  private readonly includes: RegExp[];
  private readonly excludes: RegExp[];

  constructor(
    patterns: { includes: string[]; excludes: string[] },
    private readonly never: ReadonlySet<string>,
    private readonly always: ReadonlySet<string> = new Set(),
  ) {
    this.includes = patterns.includes.map(toExpression);
    this.excludes = patterns.excludes.map(toExpression);
  }

  /** The selected ones, under lower-case names. */
  of(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
    if (this.includes.length === 0 && this.always.size === 0) return {};
    const selected: Record<string, string> = {};
    for (const [given, value] of Object.entries(headers)) {
      const name = given.toLowerCase();
      if (value === undefined || this.never.has(name)) continue;
      if (!this.always.has(name) && !this.includes.some((pattern) => pattern.test(name))) continue;
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

/** The same settings from the environment. */
interface Surroundings {
  switchedOff: Group[];
  origins: string[];
}

const NO_SURROUNDINGS: Surroundings = { switchedOff: [], origins: [] };

/** The `http` section of langgraph.json. */
export class HttpSettings {
  /** Module and export of the user's own routes; the file is absolute. */
  readonly app: ModuleExport | undefined;
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

  private constructor(section: HttpSection, places: ModulePlaces, { switchedOff, origins }: Surroundings) {
    this.app = section.app ? locate(places, section.app) : undefined;
    this.protectsApp = section.enable_custom_route_auth;
    this.authFirst = section.middleware_order === 'auth_first';
    this.cors = corsOf(section.cors ?? undefined, origins);
    const nothing = { includes: [], excludes: [] };
    this.configurableHeaders = new HeaderSelection(section.configurable_headers ?? nothing, CREDENTIALS, TRACING);
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
   * The section of langgraph.json, and what the environment adds to it. Without the file, which the graphs report, everything
   * has its default.
   * @throws {ConfigError} with every problem of the file
   */
  static of(config: AppConfig): HttpSettings {
    const absent = { path: '', http: undefined, importFolders: [] };
    const { path, http, importFolders } = config.hasLanggraphJson ? config.langgraphJson : absent;
    const switchedOff: Group[] = config.http.servesEventProtocol ? [] : ['event_streaming'];
    const section = http ?? httpSectionSchema.parse({});
    const places = { folder: dirname(path), importFolders };
    return new HttpSettings(section, places, { switchedOff, origins: config.http.allowedOrigins });
  }

  /** @throws {ConfigError} with every problem of the section */
  static parse(file: unknown, path: string, surroundings: Surroundings = NO_SURROUNDINGS): HttpSettings {
    const parsed = fileSchema.safeParse(file);
    if (!parsed.success) {
      throw new ConfigError(parsed.error.issues.map((issue) => `${path}: ${issue.path.join('.')}: ${issue.message}`));
    }
    const places = { folder: dirname(path), importFolders: [] };
    return new HttpSettings(parsed.data.http ?? httpSectionSchema.parse({}), places, surroundings);
  }
}

/**
 * Keys that are not given keep their defaults, with which browser clients work. @param more origins in addition to those of the
 * section
 */
function corsOf(section: CorsSection | undefined, more: string[]): CorsSettings {
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
