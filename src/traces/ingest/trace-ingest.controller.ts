import { HttpCode, Param, Patch, Post, Req, UseInterceptors } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiConsumes, ApiOperation } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AliasedController } from '../../http/aliased-controller';
import { TraceUpload, Tenant } from '../../auth/tenant';
import type { TenantId } from '../../auth/tenant';
import { runBatchSchema, runBodySchema, runParamsSchema } from './trace-ingest.schemas';
import { TraceUploadService } from './trace-upload.service';
import { HoldUpload } from './upload-budget';
import { RouteTags } from '../../http/route-tags';

/** Bodies are parsed by the feature itself, so their schemas are declared here. */
const describe = (schema: z.ZodType) => ({ schema: z.toJSONSchema(schema) }) as Parameters<typeof ApiBody>[0];
const RUN_BODY = describe(runBodySchema);
const BATCH_BODY = describe(runBatchSchema);

/** Uploads whose bare paths (`POST /runs`, `POST /runs/batch`) mean these only to a trace client: see url-rewriter.ts. */
@RouteTags('Trace ingestion')
@TraceUpload()
@UseInterceptors(HoldUpload)
@AliasedController('api/v1/runs', 'api/runs')
export class RunUploadController {
  constructor(private readonly uploads: TraceUploadService) {}

  /** Begins a run. Like all uploads, answered once it is stored; a replay changes nothing. */
  @Post()
  @HttpCode(202)
  @RouteConfig({ isTraceUpload: true })
  @ApiOperation({ summary: 'Trace the start of a run' })
  @ApiBody(RUN_BODY)
  async post(@Tenant() tenantId: TenantId, @Req() { body }: FastifyRequest) {
    await this.uploads.post(tenantId, body);
    return { message: 'Run stored' };
  }

  @Post('batch')
  @HttpCode(202)
  @RouteConfig({ isTraceUpload: true })
  @ApiOperation({ summary: 'Trace starts and ends of many runs' })
  @ApiBody(BATCH_BODY)
  async batch(@Tenant() tenantId: TenantId, @Req() { body }: FastifyRequest) {
    await this.uploads.batch(tenantId, body);
    return { message: 'Runs stored' };
  }
}

@RouteTags('Trace ingestion')
@TraceUpload()
@UseInterceptors(HoldUpload)
@AliasedController('api/v1/runs', 'api/runs', 'runs')
export class TraceIngestController {
  constructor(private readonly uploads: TraceUploadService) {}

  /** Parts `post.<run id>`, `patch.<run id>`, their large fields, attachments and feedback; as a whole it may be zstd or gzip. */
  @Post('multipart')
  @HttpCode(202)
  @RouteConfig({ isTraceUpload: true })
  @ApiConsumes('multipart/form-data')
  @ApiOperation({ summary: 'Trace runs, with attachments and feedback' })
  async multipart(@Tenant() tenantId: TenantId, @Req() request: FastifyRequest) {
    await this.uploads.multipart(tenantId, request.body, request.headers['content-type']);
    return { message: 'Runs stored' };
  }

  /** Updates a run: null and absent fields change nothing. It may arrive before the run's start. */
  @Patch(':run_id')
  @HttpCode(202)
  @RouteConfig({ isTraceUpload: true })
  @ApiOperation({ summary: 'Trace the end of a run' })
  @ApiBody(RUN_BODY)
  async patch(
    @Tenant() tenantId: TenantId,
    @Param({ schema: runParamsSchema }) params: z.output<typeof runParamsSchema>,
    @Req() { body }: FastifyRequest,
  ) {
    await this.uploads.patch(tenantId, params.run_id, body);
    return { message: 'Run stored' };
  }
}
