import { Module } from '@nestjs/common';
import { AttachmentSweep } from './attachments/attachment-sweep';
import { TracePartitionSweep } from './trace-partition-sweep';
import { TracesModule } from './traces.module';

/** The worker's half: partitions, and attachments of deleted traces. */
@Module({ imports: [TracesModule], providers: [AttachmentSweep, TracePartitionSweep] })
export class TracesWorkerModule {}
