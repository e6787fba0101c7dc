import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';

/** Traces of requests, workflows and activities, sent to an OpenTelemetry collector. */
export interface Telemetry {
  /** Plugin of Temporal's client, worker and workflow bundle: spans, and the trace's id from one to the next. */
  temporal: OpenTelemetryPlugin;
  /** Makes a span of each request of the application. */
  observe(app: NestFastifyApplication): void;
  /** Sends what is still queued. */
  close(): Promise<void>;
}
