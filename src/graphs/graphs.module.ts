import { DynamicModule, Injectable, Module, OnModuleInit, OnModuleDestroy } from '@nestjs/common';
import { AppConfig } from '../config/config';
import { HttpSettings } from '../config/http-settings';
import { Metrics } from '../metrics/metrics';
import { GraphRegistry } from './graph-registry';
import { GraphHost } from './host/graph-host';

/** Postgres connections of one graph thread: checkpoints of the runs that share it. */
const CONNECTIONS_PER_THREAD = 4;

/** Ties the pool of graph threads to the life of the process: a graph that fails to load fails the start. */
@Injectable()
class GraphHostLifecycle implements OnModuleInit, OnModuleDestroy {
  constructor(
    private readonly host: GraphHost,
    metrics: Metrics,
  ) {
    const threads = metrics.gauge({
      name: 'gantry_graph_threads',
      help: 'Threads for graph code; blocked: busy with one piece of code, so that it answers nothing',
      labelNames: ['state'],
      collect: () => {
        for (const [state, count] of Object.entries(host.census())) threads.set({ state }, count);
      },
    });
  }

  onModuleInit(): Promise<void> {
    return this.host.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.host.close();
  }
}

type Purpose = 'run' | 'inspect';

@Module({})
export class GraphsModule {
  private static readonly modules = new Map<Purpose, DynamicModule>();

  /** `run`: threads for runs, traced. `inspect`: one thread for states, histories and drawings; it runs no nodes. */
  static for(purpose: Purpose): DynamicModule {
    // Nest tells dynamic modules apart by identity: every importer has to be given the same one.
    const known = this.modules.get(purpose) ?? describe(purpose);
    this.modules.set(purpose, known);
    return known;
  }
}

function describe(purpose: Purpose): DynamicModule {
  return {
    module: GraphsModule,
    providers: [
      GraphRegistry,
      GraphHostLifecycle,
      {
        provide: GraphHost,
        inject: [AppConfig, GraphRegistry, HttpSettings],
        useFactory: (config: AppConfig, registry: GraphRegistry, { mountPrefix }: HttpSettings) => {
          const host = new GraphHost({
            threads: purpose === 'run' ? config.graphThreads : { min: 1, max: 2 },
            env: registry.config.env,
            data: {
              graphs: registry.graphs,
              store: registry.config.store,
              databaseUrl: config.databaseUrl,
              databasePool: CONNECTIONS_PER_THREAD,
              ...(purpose === 'run' &&
                config.tracing && {
                  tracing: { apiUrl: `${config.apiUrl}${mountPrefix}/api/v1`, apiKey: config.internalKey ?? 'none' },
                }),
            },
          });
          // Loading takes seconds: it begins beside the rest of the start, and the lifecycle hears of what is wrong.
          host.start().catch(() => undefined);
          return host;
        },
      },
    ],
    exports: [GraphRegistry, GraphHost],
  };
}
