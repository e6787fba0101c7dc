import { Module } from '@nestjs/common';
import { AttachmentStore } from './attachments/attachment-store';
import { AttachmentSweep } from './attachments/attachment-sweep';
import { AttachmentsRepository } from './attachments/attachments.repository';
import { TracePartitionSweep } from './trace-partition-sweep';
import { TracePartitions } from './trace-partitions';

/** What the worker process does for traces: no routes. */
@Module({
  providers: [AttachmentStore, AttachmentSweep, AttachmentsRepository, TracePartitions, TracePartitionSweep],
  exports: [AttachmentSweep, TracePartitionSweep],
})
export class TraceMaintenanceModule {}
