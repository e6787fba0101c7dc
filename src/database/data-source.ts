import { join } from 'node:path';
import { defaults } from 'pg';
import { DataSource, DataSourceOptions } from 'typeorm';
import { KEEP_ALIVE } from './silent-connections';
import { type StatementTimeouts, TenantPool, type TenantPoolConfig } from './tenant-pool';

/**
 * The single description of the database for processes, migrations and tests. Entities are registered by the feature modules that own
 * them; the schema comes from migrations alone.
 * @param requestsUrl URL with the role of requests, if an administrator created it
 */
export function dataSourceOptions(
  url: string,
  poolSize: number,
  requestsUrl?: string,
  timeouts?: StatementTimeouts,
): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    driver: { Pool: TenantPool, defaults },
    synchronize: false,
    poolSize,
    applicationName: 'gantry',
    connectTimeoutMS: 10_000,
    extra: { ...KEEP_ALIVE, requestsUrl, timeouts } satisfies TenantPoolConfig,
  };
}

/** A data source with the migrations, which processes with an up-to-date schema needn't load. */
export function createDataSource(url: string): DataSource {
  return new DataSource({
    ...dataSourceOptions(url, 5),
    migrations: [join(__dirname, 'migrations', '*.{js,ts}')],
    migrationsTransactionMode: 'each',
  });
}
