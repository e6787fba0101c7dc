import { Injectable } from '@nestjs/common';
import { ZodError } from 'zod';
import type { TenantId } from '../../auth/tenant';
import { TraceUploadService } from '../ingest/trace-upload.service';
import { traceErrors } from '../trace.errors';
import { decodeJson, decodeProtobuf, Span } from './otlp-decoder';
import { toRunBody } from './span-mapper';

/** Takes OpenTelemetry's spans as runs. */
@Injectable()
export class OtlpService {
  constructor(private readonly uploads: TraceUploadService) {}

  /** `body` is a Buffer of protobuf, or parsed JSON. @throws {ApiError} 400 for what is no OTLP. */
  async ingest(tenantId: TenantId, body: unknown, project: string | undefined): Promise<void> {
    const spans = decode(body);
    const roots = new Map(
      spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ traceId, spanId }) => [traceId, spanId]),
    );
    await this.uploads.batch(tenantId, { post: spans.map((span) => toRunBody(span, roots, project)) });
  }
}

function decode(body: unknown): Span[] {
  try {
    return Buffer.isBuffer(body) ? decodeProtobuf(body) : decodeJson(body);
  } catch (error) {
    const [issue] = error instanceof ZodError ? error.issues : [];
    throw traceErrors.notOtlp(
      issue ? `${issue.path.join('.')}: ${issue.message}` : 'the bytes are no protobuf message',
    );
  }
}
