import { ZodError } from 'zod';
import { traceErrors } from '../trace.errors';
import { decodeJson, decodeProtobuf, Span } from './otlp-decoder';
import { toRunBody } from './span-mapper';

/**
 * The spans of a request as the bodies of runs.
 * @param body protobuf as bytes, or parsed JSON
 * @throws {ApiError} 400 for what is no OTLP.
 */
export function readSpans(body: Buffer | { json: unknown }, project: string | undefined): Record<string, unknown>[] {
  const spans = decode(body);
  const roots = new Map(
    spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ traceId, spanId }) => [traceId, spanId]),
  );
  return spans.map((span) => toRunBody(span, roots, project));
}

function decode(body: Buffer | { json: unknown }): Span[] {
  try {
    return Buffer.isBuffer(body) ? decodeProtobuf(body) : decodeJson(body.json);
  } catch (error) {
    const [issue] = error instanceof ZodError ? error.issues : [];
    throw traceErrors.notOtlp(
      issue ? `${issue.path.join('.')}: ${issue.message}` : 'the bytes are not a protobuf message',
    );
  }
}
