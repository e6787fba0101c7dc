import { type Context, context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { envDetectorSync, Resource } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';
import { AppConfig } from '../config/config';
import { statusOf, whenAnswered } from './answered';
import type { Telemetry } from './telemetry';

/** Probes and scrapers come every few seconds and show nothing. */
const UNTRACED = new Set(['/', '/ok', '/ready', '/metrics']);

/** The exporter and the sampler read the standard OTEL_… variables themselves. */
export function createTelemetry(config: AppConfig, process: 'api' | 'worker'): Telemetry {
  const resource = new Resource({
    'service.name': `gantry-${process}`,
    'service.version': config.version,
  }).merge(envDetectorSync.detect() as Resource);
  const spanProcessor = new BatchSpanProcessor(new OTLPTraceExporter());
  const provider = new NodeTracerProvider({ resource, spanProcessors: [spanProcessor] });
  // Sets the context manager, and the W3C headers by which callers pass their trace on.
  provider.register();
  return {
    temporal: new OpenTelemetryPlugin({ resource, spanProcessor }),
    observe: (app) => observe(app, config.version),
    close: () => provider.shutdown(),
  };
}

/** A span of each request, from its headers to the end of its answer, named after its route. */
function observe(app: NestFastifyApplication, version: string): void {
  const tracer = trace.getTracer('gantry', version);
  const fastify = app.getHttpAdapter().getInstance();
  const contexts = new WeakMap<FastifyRequest, Context>();
  fastify.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    if (UNTRACED.has(route)) return done();
    const caller = propagation.extract(context.active(), request.headers);
    // The address is left out: a query may hold a secret.
    const attributes = { 'http.request.method': request.method, 'http.route': route, 'gantry.request_id': request.id };
    const span = tracer.startSpan(`${request.method} ${route}`, { kind: SpanKind.SERVER, attributes }, caller);
    whenAnswered(reply, () => {
      const status = statusOf(reply);
      span.setAttribute('http.response.status_code', status);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    const own = trace.setSpan(caller, span);
    contexts.set(request, own);
    context.with(own, done);
  });
  // A body that comes after its headers is read in the connection's context, and what follows would continue in that one.
  fastify.addHook('preValidation', (request, _reply, done) => {
    const own = contexts.get(request);
    if (own) context.with(own, done);
    else done();
  });
}
