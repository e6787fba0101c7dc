import { AppConfig } from '../config/config';
import type { Telemetry } from './telemetry';

let current: Telemetry | undefined;

/**
 * Starts tracing when OTEL_EXPORTER_OTLP_ENDPOINT is set; undefined otherwise. Nothing of OpenTelemetry is loaded then, and
 * workflows run from the usual bundle.
 */
export function startTelemetry(config: AppConfig, process: 'api' | 'worker'): Telemetry | undefined {
  if (!config.telemetry.exportsTraces) return undefined;
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- only now, and not at the start of every process
  const { createTelemetry } = require('./otlp-telemetry') as typeof import('./otlp-telemetry');
  current = createTelemetry(config, process);
  return current;
}

/** The process's telemetry, once it has been started; undefined while it is off. */
export function telemetry(): Telemetry | undefined {
  return current;
}
