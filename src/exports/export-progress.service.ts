import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, OnModuleDestroy } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { TenantId } from '../auth/tenant';
import { sseFrame, SseResponse } from '../http/streaming';
import { toProgressEvent } from './export.mapper';
import type { ExportRow } from './exports.repository';
import { ExportsService } from './exports.service';

/** A person watches: once a second is soon enough, and costs one small query. */
const LOOK_MS = 1_000;

/** The progress of an export as it goes on, for somebody who watches. */
@Injectable()
export class ExportProgressService implements OnModuleDestroy {
  private readonly closing = new AbortController();

  constructor(private readonly exports: ExportsService) {}

  onModuleDestroy(): void {
    this.closing.abort();
  }

  /** `progress` whenever something changed, and `end` with the last state when the export has ended. */
  async stream(tenantId: TenantId, first: ExportRow, reply: FastifyReply): Promise<void> {
    const response = new SseResponse(reply, {});
    const signal = AbortSignal.any([response.signal, this.closing.signal]);
    let row = first;
    let shown = '';
    for (let id = 1; !signal.aborted;) {
      const data = JSON.stringify(toProgressEvent(row));
      if (isOver(row)) {
        await response.write(sseFrame('end', data, id));
        break;
      }
      if (data !== shown) await response.write(sseFrame('progress', data, id++));
      shown = data;
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
      row = await this.exports.get(tenantId, row.exportId);
    }
    response.end();
  }
}

function isOver({ status }: ExportRow): boolean {
  return status !== 'Created' && status !== 'Running' && status !== 'IntervalScheduled';
}
