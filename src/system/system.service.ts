import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { AppConfig } from '../config/config';
import { GraphRegistry } from '../graphs/graph-registry';
import { TemporalClient } from '../temporal/temporal-client';

const PROBE_TIMEOUT_MS = 3_000;

/** Clients of both APIs switch abilities by this number: it names the public servers' release whose API is served here. */
const API_LEVEL = '0.16.7';

export type ServiceHealth = 'healthy' | 'unhealthy';

@Injectable()
export class SystemService {
  constructor(
    private readonly config: AppConfig,
    @InjectDataSource() private readonly database: DataSource,
    private readonly temporal: TemporalClient,
    private readonly registry: GraphRegistry,
  ) {}

  async health(deep: boolean): Promise<{ ok: boolean; services: Record<string, ServiceHealth> }> {
    if (!deep) return { ok: true, services: {} };
    const [database, temporal] = await Promise.all([
      probe(this.database.query('SELECT 1')),
      probe(this.temporal.check(PROBE_TIMEOUT_MS)),
    ]);
    return { ok: database === 'healthy' && temporal === 'healthy', services: { database, temporal } };
  }

  info() {
    return {
      version: API_LEVEL,
      gantry_version: this.config.version,
      context: 'js',
      flags: {
        assistants: true,
        crons: true,
        mcp: !this.registry.config.http.disableMcp,
        langsmith: false,
        langsmith_tracing_replicas: false,
        langsmith_tracing_session_on_runs: false,
      },
      host: { kind: 'self-hosted', project_id: null, host_revision_id: null, revision_id: null, tenant_id: null },
      // Trace clients index these without a check: the whole object has to be there.
      batch_ingest_config: {
        use_multipart_endpoint: true,
        size_limit: 100,
        size_limit_bytes: 20_971_520,
        scale_up_qsize_trigger: 1000,
        scale_up_nthreads_limit: 16,
        scale_down_nempty_trigger: 4,
      },
      instance_flags: { gzip_body_enabled: true, zstd_compression_enabled: false },
    };
  }
}

async function probe(check: Promise<unknown>): Promise<ServiceHealth> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<ServiceHealth>((resolve) => {
    timer = setTimeout(() => resolve('unhealthy'), PROBE_TIMEOUT_MS);
  });
  const answer = check.then<ServiceHealth, ServiceHealth>(
    () => 'healthy',
    () => 'unhealthy',
  );
  const health = await Promise.race([answer, late]);
  clearTimeout(timer);
  return health;
}
