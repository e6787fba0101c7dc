import 'reflect-metadata';
import { AppModule } from './app.module';
import { confirmDatabase } from './auth/confirm-database';
import { keepCompiledCode } from './config/compiled-code';
import { returnUnusedMemory } from './config/unused-memory';
import { loadConfig } from './config/config';
import { enterProjectFolder } from './config/project-folder';
import { forgetSecretSettings } from './config/secret-settings';
import { listenForStop } from './config/stop-request';
import { stopGracefully } from './http/graceful-stop';
import { createHttpApp } from './server/http-app';
import { createLogger } from './http/logging';
import { startTelemetry } from './telemetry/start-telemetry';

async function main(): Promise<void> {
  const onStopRequest = listenForStop();
  const config = loadConfig();
  forgetSecretSettings();
  enterProjectFolder(config);
  const logger = createLogger('api', config.telemetry.logLevel);
  const tracing = startTelemetry(config, 'api');
  await confirmDatabase(config);
  const app = await createHttpApp(AppModule.forRoot(config), config, logger);
  let stopping: Promise<void> | undefined;
  onStopRequest(() => {
    stopping ??= stopGracefully(app, config, logger)
      .then(() => tracing?.close())
      .then(
        () => process.exit(0),
        (error: unknown) => {
          logger.error({ err: error }, 'The stop failed');
          process.exit(1);
        },
      );
  });
  await app.listen(config.http.port, config.http.host);
  logger.info({ url: await app.getUrl() }, 'API is listening');
  process.send?.({ type: 'ready' });
  keepCompiledCode();
  returnUnusedMemory();
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
