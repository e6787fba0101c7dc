import 'reflect-metadata';
import { AppModule } from './app.module';
import { loadConfig } from './config/config';
import { createHttpApp } from './http/http-app';
import { createLogger } from './http/logging';

async function main(): Promise<void> {
  const config = loadConfig();
  const logger = createLogger('api', config.logLevel);
  const app = await createHttpApp(AppModule.forRoot(config), config, logger);
  app.enableShutdownHooks();
  // The supervisor's death must not leave an api behind that nobody watches.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  await app.listen(config.port, config.host);
  logger.info({ url: await app.getUrl() }, 'API is listening');
  process.send?.({ type: 'ready' });
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
