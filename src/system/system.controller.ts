import { Controller, Get, HttpStatus, Query, Res } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../auth/tenant';
import { SystemService } from './system.service';

@ApiTags('System')
@Public()
@Controller()
export class SystemController {
  constructor(private readonly system: SystemService) {}

  /** `{ok: true}`; with `?check_db=1` the database and Temporal are asked, and 503 says which one doesn't answer. */
  @Get(['ok', '/'])
  @ApiOperation({ summary: 'Health of the server' })
  async ok(@Query('check_db') checkDb: string | undefined, @Res({ passthrough: true }) reply: FastifyReply) {
    const deep = checkDb !== undefined && !['', '0', 'false', 'False'].includes(checkDb);
    const health = await this.system.health(deep);
    if (!health.ok) void reply.status(HttpStatus.SERVICE_UNAVAILABLE);
    return health;
  }

  /** Version and abilities, as clients of the deployment server and of trace ingestion both read them. */
  @Get('info')
  @ApiOperation({ summary: 'Version and features' })
  info() {
    return this.system.info();
  }

  /** The same for trace clients, whose endpoint may end in `/api/v1` or `/api`. */
  @Get(['api/v1/info', 'api/info'])
  @ApiExcludeEndpoint()
  infoForTraceClients() {
    return this.info();
  }
}
