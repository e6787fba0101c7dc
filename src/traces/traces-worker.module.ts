import { Module } from '@nestjs/common';
import { AttachmentSweep } from './attachments/attachment-sweep';
import { TracePartitionSweep } from './trace-partition-sweep';
import { TracesModule } from './traces.module';

/** The worker's half: partitions, and attachments that no trace has any more. */
@Module({ imports: [TracesModule], providers: [AttachmentSweep, TracePartitionSweep] })
export class TracesWorkerModule {}
