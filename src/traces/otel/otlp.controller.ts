import { Headers, HttpCode, Post, Req, Res, UseInterceptors } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiConsumes, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AliasedController } from '../../http/aliased-controller';
import { TraceClients, Tenant } from '../../auth/tenant';
import type { TenantId } from '../../auth/tenant';
import { TraceUploadService } from '../ingest/trace-upload.service';
import { HoldUpload } from '../ingest/upload-budget';
import { agentProject } from '../projects/agent-project';
import { RouteTags } from '../../http/route-tags';

@RouteTags('Trace ingestion')
@TraceClients()
@UseInterceptors(HoldUpload)
@AliasedController('api/v1/otel/v1', 'api/otel/v1', 'otel/v1')
export class OtlpController {
  constructor(private readonly uploads: TraceUploadService) {}

  /**
   * OTLP over HTTP, protobuf or JSON, plain or gzip. The project is named by the header `Langsmith-Project`, or by
   * `Langsmith-Agent-Id` and `Langsmith-Agent-Environment` together.
   */
  @Post('traces')
  @HttpCode(200)
  @RouteConfig({ isTraceUpload: true })
  @ApiConsumes('application/x-protobuf', 'application/json')
  @ApiOperation({ summary: 'Trace OpenTelemetry spans' })
  async traces(
    @Tenant() tenantId: TenantId,
    @Req() request: FastifyRequest,
    @Headers('langsmith-project') named: string | undefined,
    @Headers('langsmith-agent-id') agentId: string | undefined,
    @Headers('langsmith-agent-environment') environment: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | Record<string, never>> {
    const isProtobuf = request.headers['content-type']?.toLowerCase().startsWith('application/x-protobuf') ?? false;
    const project = named ?? (agentId && environment ? agentProject(agentId, environment) : undefined);
    await this.uploads.spans(tenantId, request.body, isProtobuf ? 'protobuf' : 'json', project);
    if (!isProtobuf) return {};
    // An empty ExportTraceServiceResponse: everything was accepted.
    void reply.type('application/x-protobuf');
    return Buffer.alloc(0);
  }
}
