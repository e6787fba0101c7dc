import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { TenantId } from '../../auth/tenant';
import { AppConfig } from '../../config/config';
import { invalidRequest } from '../../http/api-error';
import { type Blocks, blocksOf } from '../../http/body-blocks';
import { Attachment, AttachmentsService } from '../attachments/attachments.service';
import { FeedbackService } from '../feedback/feedback.service';
import { traceErrors } from '../trace.errors';
import { readMultipart } from './multipart';
import { separateAttachments } from './multipart-operations';
import { TraceIngestService } from './trace-ingest.service';
import type { Upload } from './upload';
import { UploadReader } from './upload-reader';

/** Reads uploads in all their forms; a request is stored completely or not at all. */
@Injectable()
export class TraceUploadService {
  constructor(
    private readonly config: AppConfig,
    private readonly reader: UploadReader,
    private readonly ingestion: TraceIngestService,
    private readonly feedback: FeedbackService,
    private readonly attachments: AttachmentsService,
  ) {}

  post(tenantId: TenantId, body: unknown): Promise<void> {
    return this.read(tenantId, { form: 'post', body: bytesOf(body) });
  }

  patch(tenantId: TenantId, runId: string, body: unknown): Promise<void> {
    return this.read(tenantId, { form: 'patch', runId: runId.toLowerCase(), body: bytesOf(body) });
  }

  batch(tenantId: TenantId, body: unknown): Promise<void> {
    return this.read(tenantId, { form: 'batch', body: bytesOf(body) });
  }

  spans(tenantId: TenantId, body: unknown, encoding: 'json' | 'protobuf', project: string | undefined): Promise<void> {
    return this.read(tenantId, { form: 'otlp', encoding, project, body: bytesOf(body) });
  }

  /** `payload` is the raw multipart stream. */
  async multipart(tenantId: TenantId, payload: unknown, contentType: string | undefined): Promise<void> {
    if (!(payload instanceof Readable) || contentType === undefined) {
      throw traceErrors.notMultipart('Content-Type must be multipart/form-data');
    }
    const parts = await readMultipart(payload, contentType, this.config.traces.uploadLimitBytes);
    const { attachments, parsed } = separateAttachments(parts);
    const body = await blocksOf(parsed.flatMap(({ pieces }) => pieces));
    const names = parsed.map(({ name, size }) => ({ name, size }));
    await this.read(tenantId, { form: 'multipart', body, parts: names }, attachments);
  }

  private async read(tenantId: TenantId, upload: Upload, attachments: Attachment[] = []): Promise<void> {
    const { operations, feedback } = await this.reader.read(upload);
    const stored = await this.attachments.writeAttachments(tenantId, attachments);
    let commentedRunIds: string[] = [];
    await this.ingestion.ingest(tenantId, operations, {
      lockedRuns: async (manager) => {
        commentedRunIds = await this.feedback.runsOf(manager, tenantId, feedback);
        // An attachment of a run that never comes is deleted with the key of that run.
        return [...commentedRunIds, ...stored.map(({ runId }) => runId)];
      },
      store: async (manager, placedRunIds) => {
        await this.attachments.insert(manager, tenantId, stored);
        await this.feedback.writeFeedback(manager, tenantId, feedback, commentedRunIds);
        await this.feedback.refresh(manager, tenantId, placedRunIds);
      },
    });
  }
}

/** @throws {ApiError} 422 for a request without a body, or with a multipart body */
function bytesOf(body: unknown): Blocks {
  if (Array.isArray(body)) return body as Blocks;
  throw invalidRequest([{ message: 'a body of JSON is required' }]);
}
