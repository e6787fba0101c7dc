import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics } from '../metrics/metrics';

/** Metrics of bulk exports in a worker. */
@Injectable()
export class ExportMetrics {
  private readonly rows: Counter;
  private readonly bytes: Counter;
  private readonly files: Counter;
  private readonly partitions: Counter<'outcome'>;
  private readonly exports: Counter<'status'>;

  constructor(metrics: Metrics) {
    this.rows = metrics.counter({ name: 'gantry_export_rows_total', help: 'Rows written to files of exports' });
    this.bytes = metrics.counter({ name: 'gantry_export_bytes_total', help: 'Bytes of files of exports' });
    this.files = metrics.counter({ name: 'gantry_export_files_total', help: 'Files of exports that were uploaded' });
    this.partitions = metrics.counter({
      name: 'gantry_export_partition_attempts_total',
      help: 'Attempts at partitions (days) of exports',
      labelNames: ['outcome'],
    });
    this.exports = metrics.counter({
      name: 'gantry_exports_ended_total',
      help: 'Bulk exports by how they ended',
      labelNames: ['status'],
    });
  }

  fileWritten(rows: number, bytes: number): void {
    this.rows.inc(rows);
    this.bytes.inc(bytes);
    this.files.inc();
  }

  partitionAttempted(outcome: 'completed' | 'failed' | 'stopped'): void {
    this.partitions.inc({ outcome });
  }

  exportEnded(status: 'Completed' | 'Failed' | 'Cancelled' | 'TimedOut'): void {
    this.exports.inc({ status });
  }
}
