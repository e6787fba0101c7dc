import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { z } from 'zod';
import { OperatorOnly } from '../auth/tenant';
import { toAuditRecord } from './audit.mapper';
import { AuditRepository } from './audit.repository';
import { type AuditQuery, auditQuery, type AuditRecord, auditRecordSchema } from './audit.schemas';
import { RouteTags } from '../http/route-tags';

/** The audit log for the operator: who created, changed, cancelled, deleted or exported what. */
@RouteTags('Admin')
@OperatorOnly()
@Controller('admin/audit')
export class AuditController {
  constructor(private readonly audit: AuditRepository) {}

  @Get()
  @ApiOperation({ summary: 'The audit log, newest first' })
  @ApiOkResponse({ standardSchema: z.array(auditRecordSchema) })
  async search(@Query({ schema: auditQuery }) query: AuditQuery): Promise<AuditRecord[]> {
    return (await this.audit.searchRecords(query)).map(toAuditRecord);
  }
}
