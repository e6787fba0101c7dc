import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { confirmDatabase } from '../src/auth/confirm-database';
import { keepCompiledCode } from '../src/config/compiled-code';
import { returnUnusedMemory } from '../src/config/unused-memory';
import { loadConfig } from '../src/config/config';
import { ConfigError } from '../src/config/config-error';
import { enterProjectFolder } from '../src/config/project-folder';
import { forgetSecretSettings } from '../src/config/secret-settings';
import { listenForStop } from '../src/config/stop-request';
import { createLogger, NestLogger } from '../src/http/logging';
import { Metrics } from '../src/metrics/metrics';
import { startTelemetry } from '../src/telemetry/start-telemetry';
import { StatusServer } from './status-server';
import { WorkerModule } from './worker.module';
import { WorkerProcess } from './worker-process';

async function main(): Promise<void> {
  const onStopRequest = listenForStop();
  const config = loadConfig();
  forgetSecretSettings();
  enterProjectFolder(config);
  const logger = createLogger('worker', config.telemetry.logLevel);
  const tracing = startTelemetry(config, 'worker');
  // This file owns the signals: Temporal's core and Nest must not race it to the shutdown.
  Runtime.install({
    shutdownSignals: [],
    ...(config.worker.temporalMetrics && {
      telemetryOptions: { metrics: { prometheus: { bindAddress: config.worker.temporalMetrics } } },
    }),
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      logger[level === 'WARN' ? 'warn' : 'error']({ ...meta, context: 'Temporal' }, message);
    }),
  });
  await confirmDatabase(config);
  const app = await NestFactory.createApplicationContext(WorkerModule.forRoot(config), {
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  const worker = await WorkerProcess.create(app, config);
  const status = new StatusServer(config, app.get(Metrics), () => worker.isReady);
  await status.listen();
  onStopRequest(() => worker.shutdown());
  process.send?.({ type: 'ready' });
  keepCompiledCode();
  returnUnusedMemory();
  logger.info('Worker is polling');
  try {
    await worker.run();
  } finally {
    await status.close();
    await app.close();
    await tracing?.close();
  }
}

main().then(
  // Nothing may hold the process once everything is closed.
  () => process.exit(0),
  (error: unknown) => {
    // The error itself is not logged, since its other properties may contain values of a statement.
    console.error(error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : error);
    process.exit(1);
  },
);
