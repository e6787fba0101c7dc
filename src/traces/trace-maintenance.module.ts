import { Module } from '@nestjs/common';
import { TracePartitionSweep } from './trace-partition-sweep';
import { TracePartitions } from './trace-partitions';

/** What the worker process does for traces: no routes. */
@Module({ providers: [TracePartitions, TracePartitionSweep], exports: [TracePartitionSweep] })
export class TraceMaintenanceModule {}
