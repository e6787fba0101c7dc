import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, OnModuleDestroy } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { TenantId } from '../../auth/tenant';
import { isOpenExport } from '../../database/export-status';
import { sseFrame, sendEvents } from '../../http/streaming';
import { toProgressEvent } from './export.mapper';
import type { ExportRow } from '../export-row';
import { ExportsService } from './exports.service';

/** A person watches: once a second is soon enough, and costs one small query. */
const LOOK_MS = 1_000;

/** The progress of an export while it runs, as a stream. */
@Injectable()
export class ExportProgressService implements OnModuleDestroy {
  private readonly closing = new AbortController();

  constructor(private readonly exports: ExportsService) {}

  onModuleDestroy(): void {
    this.closing.abort();
  }

  /** `progress` whenever something changed, and `end` with the last state when the export has ended. */
  async stream(tenantId: TenantId, first: ExportRow, reply: FastifyReply): Promise<void> {
    await sendEvents(reply, (gone) => this.frames(tenantId, first, AbortSignal.any([gone, this.closing.signal])));
  }

  private async *frames(tenantId: TenantId, first: ExportRow, signal: AbortSignal): AsyncGenerator<string> {
    let row = first;
    let shown = '';
    for (let id = 1; !signal.aborted;) {
      const data = JSON.stringify(toProgressEvent(row));
      if (!isOpenExport(row.status)) {
        yield sseFrame('end', data, id);
        return;
      }
      if (data !== shown) yield sseFrame('progress', data, id++);
      shown = data;
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
      row = await this.exports.getExport(tenantId, row.exportId);
    }
  }
}
