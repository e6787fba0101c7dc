import { z } from 'zod';
import { accessKey, type Values } from '../variables';

export const telemetryVariables = {
  GANTRY_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('fatal, error, warn, info, debug, trace, silent'),
  GANTRY_METRICS_TOKEN: accessKey
    .optional()
    .describe('lets a scraper read `/metrics` (`Authorization: Bearer …`), 16 characters or more'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url()
    .optional()
    .describe(
      'where to send OpenTelemetry traces; other `OTEL_…` variables apply too ([metrics and traces](metrics.md))',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z
    .url()
    .optional()
    .describe('complete URL for OpenTelemetry traces, including `/v1/traces`'),
};

/** Settings of logs, metrics and traces of the processes. */
export interface TelemetrySettings {
  logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** Lets a scraper read /metrics, of the api and of the workers. */
  metricsToken: string | undefined;
  /** Whether an OpenTelemetry collector gets traces. The exporter reads the standard OTEL_… variables by itself. */
  exportsTraces: boolean;
}

export const telemetrySettings = (env: Values<typeof telemetryVariables>): TelemetrySettings => ({
  logLevel: env.GANTRY_LOG_LEVEL,
  metricsToken: env.GANTRY_METRICS_TOKEN,
  exportsTraces: (env.OTEL_EXPORTER_OTLP_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) !== undefined,
});
