import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import {
  ApiExcludeEndpoint,
  ApiOkResponse,
  ApiOperation,
  ApiProduces,
  ApiServiceUnavailableResponse,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../auth/tenant';
import { MetricsService } from './metrics.service';
import { OperatorAccess } from './operator-access';
import {
  healthQuery,
  type HealthQuery,
  healthSchema,
  infoSchema,
  metricsQuery,
  type MetricsQuery,
  readinessSchema,
} from './system.schemas';
import { SystemService } from './system.service';
import { RouteTags } from '../http/route-tags';

@RouteTags('System')
@Public()
@Controller()
export class SystemController {
  constructor(
    private readonly system: SystemService,
    private readonly metricsOf: MetricsService,
    private readonly access: OperatorAccess,
  ) {}

  /**
   * Liveness: `{ok: true}`. With `?check_db=1` Postgres and Temporal are asked, three seconds each: 500 names the one that
   * doesn't answer, 503 says that the server is overloaded or about to stop.
   */
  @Get(['ok', '/'])
  @ApiOperation({ summary: 'Health of the server' })
  @ApiOkResponse({ standardSchema: healthSchema })
  async ok(@Query({ schema: healthQuery }) { check_db }: HealthQuery, @Res({ passthrough: true }) reply: FastifyReply) {
    const { status, ...health } = await this.system.health(check_db);
    void reply.status(status);
    return health;
  }

  /** Whether a load balancer should send requests here: 503 as soon as the process is asked to stop. */
  @Get('ready')
  @ApiOperation({ summary: 'Readiness of this replica' })
  @ApiOkResponse({ standardSchema: readinessSchema })
  @ApiServiceUnavailableResponse({ description: 'The replica is about to stop, or its database does not answer' })
  async ready(@Res({ passthrough: true }) reply: FastifyReply) {
    const readiness = await this.system.readiness();
    if (!readiness.ready) void reply.status(503);
    return readiness;
  }

  /** Version and abilities, as clients of the deployment server read them. */
  @Get('info')
  @ApiOperation({ summary: 'Version and features' })
  @ApiOkResponse({ standardSchema: infoSchema })
  info() {
    return this.system.info();
  }

  /** The same for trace clients, whose endpoint may end in `/api/v1` or `/api`. */
  @Get(['api/v1/info', 'api/info'])
  @ApiExcludeEndpoint()
  infoForTraceClients() {
    return this.system.infoForTraceClients();
  }

  /**
   * Metrics of this replica and the backlog of the deployment, in the Prometheus text format or, with `?format=json`, in
   * the JSON form of the public servers. Off loopback it takes `Authorization: Bearer <GANTRY_METRICS_TOKEN>` or the
   * operator's API key.
   */
  @Get('metrics')
  @ApiOperation({ summary: 'Metrics' })
  @ApiProduces('text/plain', 'application/json')
  @ApiOkResponse({ description: 'Prometheus text, or JSON' })
  async metrics(
    @Query({ schema: metricsQuery }) { format }: MetricsQuery,
    @Headers() headers: Record<string, string | undefined>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.requireForMetrics(headers);
    if (format === 'json') return this.metricsOf.toJson();
    const { contentType, text } = await this.metricsOf.toText();
    void reply.type(contentType);
    return text;
  }
}
