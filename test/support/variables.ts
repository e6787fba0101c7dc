import { join } from 'node:path';

/** Variables of a test's api or worker: the services of the test run, and a master key that protects nothing. */
export function testVariables(databaseUrl: string, overrides: Record<string, string> = {}): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: process.env.GANTRY_TEST_TEMPORAL_ADDRESS ?? '127.0.0.1:1',
    GANTRY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    GANTRY_CONFIG: join(__dirname, 'graphs', 'examples.json'),
    GANTRY_PORT: '0',
    GANTRY_LOG_LEVEL: process.env.GANTRY_LOG_LEVEL ?? 'silent',
    GANTRY_TRACING: 'off',
    GANTRY_PREPARE_SCHEMAS: 'off',
    GANTRY_EXPORT_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    ...overrides,
  };
}
