import { Module } from '@nestjs/common';
import { AttachmentStore } from './attachments/attachment-store';
import { AttachmentsRepository } from './attachments/attachments.repository';
import { FeedbackLinks } from './feedback/feedback-links';
import { TracePartitions } from './trace-partitions';

/** Parts of traces for routes, runs and the worker: partitions, attachments and links for feedback. */
@Module({
  providers: [AttachmentStore, AttachmentsRepository, FeedbackLinks, TracePartitions],
  exports: [AttachmentStore, AttachmentsRepository, FeedbackLinks, TracePartitions],
})
export class TracesModule {}
