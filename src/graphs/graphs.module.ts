import { resolve } from 'node:path';
import {
  DynamicModule,
  Inject,
  Injectable,
  Logger,
  Module,
  OnApplicationBootstrap,
  OnModuleDestroy,
  OnModuleInit,
} from '@nestjs/common';
import { AppConfig } from '../config/config';
import { HttpSettings } from '../config/http-settings';
import { toLibpqUrl } from '../config/postgres-url';
import { asOwner, GRAPH_LOGIN, readLogin, withLogin } from '../database/logins';
import { TenantTokens } from '../database/tenant-token';
import type { Embed } from '../item-store/item-store';
import { Metrics } from '../metrics/metrics';
import { GraphRegistry } from './graph-registry';
import { GraphHost } from './host/graph-host';
import { GraphHosts } from './host/graph-hosts';
import { JAVASCRIPT_RUNTIME, pythonRuntime } from './host/graph-runtime';
import { graphStore } from './host/graph-store';
import type { ProcessData } from './host/protocol';
import { StoreOperations } from './host/store-operations';
import type { GraphLanguage } from '../config/graph-language';
import { embeddingLanguage } from '../config/store-settings';
import { userCodeEnvironment } from './user-code-environment';

/** Postgres connections of one graph process: checkpoints of the runs that share it. */
const CONNECTIONS_PER_PROCESS = 4;

/**
 * Time after its start at which a process that only inspects graphs loads them, unless a request needs one before, or
 * preparation is switched off. Loading takes more than a second of processor time, which a worker that starts on the same
 * machine needs more.
 */
const INSPECT_AFTER_MS = 3_000;

/** Whether the start waits for the graphs: a worker's does, and one whose store needs the user's embedding function. */
const LOADS_AT_START = Symbol('loads at start');

/**
 * Ties the pool of graph processes to the life of the process. If no graph can be served, a start that waits for the graphs
 * fails.
 */
@Injectable()
class GraphHostLifecycle implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(GraphHostLifecycle.name);
  private warmUp: NodeJS.Timeout | undefined;

  constructor(
    private readonly hosts: GraphHosts,
    private readonly config: AppConfig,
    @Inject(LOADS_AT_START) private readonly loadsAtStart: boolean,
    metrics: Metrics,
  ) {
    const threads = metrics.gauge({
      name: 'gantry_graph_threads',
      help: 'Processes for graph code; blocked: busy with one piece of code, so that it answers nothing',
      labelNames: ['state'],
      collect: () => {
        for (const [state, count] of Object.entries(hosts.census())) threads.set({ state }, count);
      },
    });
  }

  async onModuleInit(): Promise<void> {
    if (this.loadsAtStart) await this.hosts.start();
  }

  onApplicationBootstrap(): void {
    if (this.loadsAtStart || !this.config.graphs.preparesSchemas) return;
    const load = (): void => {
      this.hosts.start().catch((error: unknown) => this.logger.error({ err: error }, 'The graphs could not be loaded'));
    };
    this.warmUp = setTimeout(load, INSPECT_AFTER_MS).unref();
  }

  onModuleDestroy(): Promise<void> {
    clearTimeout(this.warmUp);
    return this.hosts.close();
  }
}

type Purpose = 'run' | 'inspect';

/** The graphs, once in a process and for all its modules. */
@Module({})
export class GraphsModule {
  /** `run`: processes for runs, traced. `inspect`: one process for states, histories and drawings; it runs no nodes. */
  static forRoot(purpose: Purpose): DynamicModule {
    return {
      module: GraphsModule,
      global: true,
      providers: [
        GraphRegistry,
        GraphHostLifecycle,
        {
          provide: LOADS_AT_START,
          inject: [GraphRegistry],
          useFactory: ({ config }: GraphRegistry) => purpose === 'run' || config.store.index !== undefined,
        },
        {
          provide: GraphHosts,
          inject: [AppConfig, GraphRegistry, HttpSettings, LOADS_AT_START],
          useFactory: (
            config: AppConfig,
            registry: GraphRegistry,
            { mountPrefix }: HttpSettings,
            loadsAtStart: boolean,
          ) => {
            const hosts = graphHosts(purpose, config, registry, mountPrefix);
            // It begins in parallel to the rest of the start; the lifecycle hook reports problems.
            if (loadsAtStart) hosts.start().catch(() => undefined);
            return hosts;
          },
        },
      ],
      exports: [GraphRegistry, GraphHosts],
    };
  }
}

/** One pool for each language that has graphs, or the store's embedding function. */
function graphHosts(purpose: Purpose, config: AppConfig, registry: GraphRegistry, mountPrefix: string): GraphHosts {
  const access = databaseAccess(config);
  const tokens = access.then((given) => given.tokens);
  const data = access.then(({ url }) => processData(purpose, config, registry, mountPrefix, url));
  const hosts = new Map<GraphLanguage, GraphHost>();
  const embed: Embed = async (tenantId, kind, texts) => {
    const host = hosts.get(embeddingLanguage(registry.config.store)!)!;
    return JSON.parse(await host.call('embed', { tenantId, kind, texts })) as number[][];
  };
  const store = new StoreOperations(graphStore({ data, tokens, embed }), embed);
  for (const runtime of [JAVASCRIPT_RUNTIME, pythonRuntime(config.python)]) {
    const graphs = registry.graphs.filter(({ language }) => language === runtime.language);
    const embeds = runtime.language === embeddingLanguage(registry.config.store);
    if (graphs.length === 0 && !embeds) continue;
    const host = new GraphHost({
      runtime,
      processes: processesFor(purpose, config),
      perTenant: config.graphs.isPerTenant,
      recycleAboveMb: config.graphs.recycleAboveMb,
      reservesForLight: purpose === 'run' && !config.graphs.isPerTenant && config.graphs.threads.max > 1,
      confinement: { env: userCodeEnvironment(config, registry.config.env), ...config.graphs.confinement },
      data: data.then((all) => ({
        ...all,
        graphs,
        ...(runtime.language === 'python' && { databaseUrl: toLibpqUrl(all.databaseUrl) }),
      })),
      store,
      tokens,
    });
    hosts.set(runtime.language, host);
  }
  return new GraphHosts(registry, hosts);
}

/** An api that only inspects graphs needs few, and none while it is idle; if each serves one tenant, as many as a worker. */
function processesFor(purpose: Purpose, config: AppConfig): { min: number; max: number } {
  if (purpose === 'run') return config.graphs.threads;
  return { min: 0, max: config.graphs.isPerTenant ? config.graphs.threads.max : 2 };
}

/** Login and tokens of graph processes for the database. */
function databaseAccess({ database: { url, graphsUrl } }: AppConfig): Promise<{ url: string; tokens: TenantTokens }> {
  return asOwner(url, async (client) => ({
    url: graphsUrl ?? withLogin(url, await readLogin(client, GRAPH_LOGIN)),
    tokens: await TenantTokens.read(client),
  }));
}

function processData(
  purpose: Purpose,
  config: AppConfig,
  registry: GraphRegistry,
  mountPrefix: string,
  databaseUrl: string,
): ProcessData {
  const apiUrl = config.http.apiUrl + mountPrefix;
  return {
    configPath: registry.config.path,
    graphs: registry.graphs,
    recursionLimit: config.graphs.recursionLimit,
    store: registry.config.store,
    databaseUrl,
    messageLimitBytes: config.graphs.confinement.messageLimitBytes,
    apiUrl,
    databasePool: CONNECTIONS_PER_PROCESS,
    ...(config.graphs.cacheFolder !== undefined && { cacheFolder: resolve(config.graphs.cacheFolder) }),
    isEncrypted: registry.config.encryption !== undefined,
    preparesSchemas: purpose === 'inspect' && config.graphs.preparesSchemas,
    ...(purpose === 'run' && config.traces.ownRuns && { tracing: { apiUrl: `${apiUrl}/api/v1` } }),
  };
}
