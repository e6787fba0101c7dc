import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { CustomAuthDecides, Tenant, type TenantId } from '../auth/tenant';
import { type Truncate, truncateSchema, type Truncated, truncatedSchema } from './truncation.schemas';
import { TruncationService } from './truncation.service';
import { RouteTags } from '../http/route-tags';

@RouteTags('System')
@CustomAuthDecides()
@Controller('internal')
export class TruncationController {
  constructor(private readonly truncation: TruncationService) {}

  /**
   * Deletes data for test suites that start from scratch. The route exists only if the server was started with
   * `GANTRY_TEST=1`.
   */
  @Post('truncate')
  @HttpCode(200)
  @ApiOperation({ summary: 'Wipe data of the workspace' })
  @ApiOkResponse({ standardSchema: truncatedSchema })
  async truncate(@Tenant() tenantId: TenantId, @Body({ schema: truncateSchema }) body: Truncate): Promise<Truncated> {
    await this.truncation.truncate(tenantId, body);
    return { ok: true };
  }
}
