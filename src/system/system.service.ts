import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { AppConfig } from '../config/config';
import { HttpSettings } from '../config/http-settings';
import { DatabaseMetrics } from '../database/database.metrics';
import { acrossTenants, inScope } from '../database/request-scope';
import { GraphRegistry } from '../graphs/graph-registry';
import { Drain } from '../http/drain';
import { TemporalClient } from '../temporal/temporal-client';
import { ServedTags } from './served-tags';
import type { Info, Readiness, ServiceHealth } from './system.schemas';
import { atMost, LATE } from '../time/at-most';

const PROBE_TIMEOUT_MS = 3_000;

/** Clients of both APIs switch abilities by this number: it names the public servers' release whose API is served here. */
const API_LEVEL = '0.16.7';
/** The same for trace clients: the release of LangSmith from which on they use all that is served here without a warning. */
const TRACE_API_LEVEL = '0.18.0';

export interface Health {
  status: 200 | 500 | 503;
  ok: boolean;
  services?: Record<'database' | 'temporal', ServiceHealth>;
}

@Injectable()
export class SystemService {
  constructor(
    private readonly config: AppConfig,
    private readonly http: HttpSettings,
    private readonly graphs: GraphRegistry,
    private readonly drain: Drain,
    @InjectDataSource() private readonly database: DataSource,
    private readonly pool: DatabaseMetrics,
    private readonly temporal: TemporalClient,
    private readonly tags: ServedTags,
  ) {}

  /** @param deep whether the services are asked: that the process answers is the answer otherwise */
  async health(deep: boolean): Promise<Health> {
    if (this.http.isMetaDisabled) return { status: 200, ok: true };
    if (!deep) {
      return { status: 200, ok: true, services: { database: 'skipped', temporal: 'skipped' } };
    }
    const [database, temporal] = await Promise.all([
      probe(this.askDatabase()),
      probe(this.temporal.check(PROBE_TIMEOUT_MS)),
    ]);
    const isHealthy = database === 'healthy' && temporal === 'healthy';
    return {
      status: this.isOverloaded() ? 503 : isHealthy ? 200 : 500,
      ok: isHealthy,
      services: { database, temporal },
    };
  }

  /** Temporal is not asked: without it runs are accepted, and started when it is back. */
  async readiness(): Promise<Readiness> {
    if (this.drain.isDraining) return { ready: false, reason: 'The process is about to stop' };
    if ((await probe(this.askDatabase())) === 'healthy') return { ready: true };
    return { ready: false, reason: 'The database does not answer, or takes no writes' };
  }

  /**
   * Uses both logins, since each may be refused alone. Rejects also where the server is read-only, as a demoted one is:
   * the owner's statement counts as a write, and locks nothing.
   */
  private askDatabase(): Promise<unknown> {
    return Promise.all([
      inScope({ tenantId: undefined }, () => this.database.query('SELECT 1')),
      acrossTenants(() => this.database.query('SELECT FROM secret_key_check WHERE false FOR UPDATE')),
    ]);
  }

  info(): Info {
    const tags = this.tags.list();
    return {
      version: API_LEVEL,
      gantry_version: this.config.version,
      context: 'js',
      auth_type: this.authType(),
      temporal_ui: this.config.temporalUiUrl ?? null,
      flags: {
        assistants: tags.has('Assistants'),
        threads: tags.has('Threads'),
        runs: tags.has('Thread Runs'),
        crons: tags.has('Crons'),
        store: tags.has('Store'),
        a2a: tags.has('A2A'),
        mcp: tags.has('MCP'),
        auth: this.config.auth.isEnabled,
        langsmith: false,
        langsmith_tracing_replicas: false,
        langsmith_tracing_session_on_runs: this.config.traces.ownRuns,
        strict_resume: true,
        stream_namespaces: true,
      },
      host: {
        kind: 'self-hosted',
        project_id: null,
        host_revision_id: null,
        revision_id: this.graphs.revision,
        tenant_id: null,
      },
      // Trace clients index these without a check: the whole object has to be there.
      batch_ingest_config: {
        use_multipart_endpoint: true,
        size_limit: 100,
        size_limit_bytes: 20_971_520,
        scale_up_qsize_trigger: 1000,
        scale_up_nthreads_limit: 16,
        scale_down_nempty_trigger: 4,
      },
      instance_flags: { gzip_body_enabled: true, zstd_compression_enabled: true },
    };
  }

  /** The same for trace clients, which read another product's release out of the version. */
  infoForTraceClients(): Info {
    return { ...this.info(), version: TRACE_API_LEVEL };
  }

  private authType(): Info['auth_type'] {
    if (this.config.hasLanggraphJson && this.config.langgraphJson.auth) return 'custom';
    return this.config.auth.isEnabled ? 'api_key' : 'none';
  }

  /** About to stop, or more queries waiting for a connection than the pool could serve twice over. */
  private isOverloaded(): boolean {
    const { max, waiting } = this.pool.pool();
    return this.drain.isDraining || waiting > 2 * max;
  }
}

async function probe(check: Promise<unknown>): Promise<ServiceHealth> {
  const answer = check.then<ServiceHealth, ServiceHealth>(
    () => 'healthy',
    () => 'unhealthy',
  );
  const health = await atMost(PROBE_TIMEOUT_MS, answer);
  return health === LATE ? 'unhealthy' : health;
}
