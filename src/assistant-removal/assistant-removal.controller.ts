import { Controller, Delete, HttpCode, Param, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { z } from 'zod';
import { CustomAuthDecides, Tenant, type TenantId } from '../auth/tenant';
import { assistantIdParam, deleteQuery } from '../assistants/assistants.schemas';
import { AssistantRemovalService } from './assistant-removal.service';
import { RouteTags } from '../http/route-tags';

@RouteTags('Assistants')
@CustomAuthDecides()
@Controller('assistants')
export class AssistantRemovalController {
  constructor(private readonly removal: AssistantRemovalService) {}

  /**
   * Runs of it that are in flight are interrupted; with `delete_threads` the threads that it ran on last go as well. Both only
   * as far as the custom auth allows the user.
   */
  @Delete(':assistant_id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete an assistant and its versions' })
  delete(
    @Tenant() tenantId: TenantId,
    @Param({ schema: assistantIdParam }) { assistant_id }: z.infer<typeof assistantIdParam>,
    @Query({ schema: deleteQuery }) { delete_threads }: z.infer<typeof deleteQuery>,
  ): Promise<void> {
    return this.removal.remove(tenantId, assistant_id, delete_threads ?? false);
  }
}
