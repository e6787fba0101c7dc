import { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from '../../src/app.module';
import { AppConfig } from '../../src/config/config';
import { createHttpApp } from '../../src/server/http-app';
import { createLogger } from '../../src/http/logging';
import { testConfig } from './config';
import { createTestDatabase, TestDatabase } from './database';
import { temporaryConfig } from './langgraph-json';

export interface TestApi {
  app: NestFastifyApplication;
  config: AppConfig;
  database: TestDatabase;
  /** Its address: loopback, on a free port. */
  url: string;
  close(): Promise<void>;
}

/** The api process's application on a database of its own, listening. `overrides` are environment variables. */
export async function startTestApi(overrides: Record<string, string> = {}, database?: TestDatabase): Promise<TestApi> {
  const own = database ?? (await createTestDatabase());
  const config = testConfig(own.url, overrides);
  const app = await createHttpApp(AppModule.forRoot(config), config, createLogger('api', config.telemetry.logLevel));
  await app.listen(Number(overrides.GANTRY_PORT ?? 0), '127.0.0.1');
  const { port } = app.getHttpServer().address() as { port: number };
  return {
    app,
    config,
    database: own,
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      await app.close();
      if (!database) await own.drop();
    },
  };
}

/** Runs a case against an api of its own, with the graphs of the tests and an `http` section of langgraph.json. */
export async function withApi(
  { env = {}, http }: { env?: Record<string, string>; http?: Record<string, unknown> },
  use: (api: TestApi) => Promise<void>,
): Promise<void> {
  const config = temporaryConfig(http ? { http } : {});
  const api = await startTestApi({ GANTRY_CONFIG: config.path, ...env });
  try {
    await use(api);
  } finally {
    await api.close();
    config.remove();
  }
}
