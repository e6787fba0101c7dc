import { Controller, Get, Headers } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Public } from '../auth/tenant';
import { RouteTags } from '../http/route-tags';
import { FindingsService } from './findings.service';
import { OperatorAccess } from './operator-access';
import { type Findings, findingsSchema } from './system.schemas';

@RouteTags('System')
@Public()
@Controller('system')
export class FindingsController {
  constructor(
    private readonly findings: FindingsService,
    private readonly access: OperatorAccess,
  ) {}

  /**
   * Checks of the deployment, each with its state and with what to do about it: langgraph.json, ports, database and
   * migrations, clocks, Temporal, bucket, CORS, authentication, and whether workers keep up. A service that doesn't answer
   * within five seconds is a finding. Where routes require credentials, this one takes the operator's: `GANTRY_ADMIN_KEY` or an
   * API key of the operator's tenant as `X-API-Key`, or `Authorization: Bearer <GANTRY_METRICS_TOKEN>`.
   */
  @Get('findings')
  @ApiOperation({ summary: 'What is right and wrong with the deployment' })
  @ApiOkResponse({ standardSchema: findingsSchema })
  async readFindings(@Headers() headers: Record<string, string | undefined>): Promise<Findings> {
    await this.access.requireForFindings(headers);
    return this.findings.readFindings();
  }
}
