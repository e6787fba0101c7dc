import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { TenantId } from '../../auth/tenant';
import { AppConfig } from '../../config/config';
import { AttachmentsService } from '../attachments/attachments.service';
import { readFeedbackPart, FeedbackService } from '../feedback/feedback.service';
import { instantOf } from '../instant';
import { traceErrors } from '../trace.errors';
import { readMultipart } from './multipart';
import { MultipartContent, readParts } from './multipart-operations';
import { OperationKind } from './run-merge';
import { readOperation, RunOperation } from './run-operation';
import { TraceIngestService } from './trace-ingest.service';
import type { RunBatch, RunBody } from './trace-ingest.schemas';

/** Reads what clients upload in each of their forms; all of a request is stored, or nothing. */
@Injectable()
export class TraceUploadService {
  constructor(
    private readonly config: AppConfig,
    private readonly ingestion: TraceIngestService,
    private readonly feedback: FeedbackService,
    private readonly attachments: AttachmentsService,
  ) {}

  async post(tenantId: TenantId, body: RunBody): Promise<void> {
    await this.store(tenantId, { operations: [this.read('post', body, '')] });
  }

  async patch(tenantId: TenantId, runId: string, body: RunBody): Promise<void> {
    await this.store(tenantId, { operations: [this.read('patch', { ...body, id: runId }, '')] });
  }

  async batch(tenantId: TenantId, { post = [], patch = [] }: RunBatch): Promise<void> {
    const operations = [
      ...post.map((body, index) => this.read('post', body, `post.${index}`)),
      ...patch.map((body, index) => this.read('patch', body, `patch.${index}`)),
    ];
    await this.store(tenantId, { operations });
  }

  /** `body` is the raw multipart stream. */
  async multipart(tenantId: TenantId, body: unknown, contentType: string | undefined): Promise<void> {
    if (!(body instanceof Readable) || contentType === undefined) {
      throw traceErrors.notMultipart('Content-Type must be multipart/form-data');
    }
    const parts = await readMultipart(body, contentType, this.config.traceLimitBytes);
    await this.store(tenantId, readParts(parts, instantOf(new Date())));
  }

  private read(kind: OperationKind, body: RunBody, path: string): RunOperation {
    return readOperation({ kind, body, outOfBand: {}, receivedAt: instantOf(new Date()), path });
  }

  private async store(
    tenantId: TenantId,
    { operations, feedback = [], attachments = [] }: Partial<MultipartContent> & Pick<MultipartContent, 'operations'>,
  ): Promise<void> {
    const entries = feedback.map(({ id, body }) => readFeedbackPart(id, body));
    const stored = await this.attachments.write(tenantId, attachments);
    await this.ingestion.ingest(tenantId, operations, async (manager, newRunIds) => {
      await this.attachments.insert(manager, tenantId, stored);
      await this.feedback.write(manager, tenantId, entries);
      await this.feedback.refresh(manager, tenantId, newRunIds);
    });
  }
}
