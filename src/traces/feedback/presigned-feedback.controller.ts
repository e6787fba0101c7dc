import { Body, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { z } from 'zod';
import { AliasedController } from '../../http/aliased-controller';
import { Tenant } from '../../auth/tenant';
import type { TenantId } from '../../auth/tenant';
import { type CreateFeedbackTokens, createFeedbackTokensSchema, listFeedbackTokensSchema } from './feedback.schemas';
import { PresignedFeedbackService } from './presigned-feedback.service';
import { RouteTags } from '../../http/route-tags';

/** Creates links with which people without a key leave feedback. */
@RouteTags('Trace feedback')
@AliasedController('api/v1/feedback/tokens', 'api/feedback/tokens', 'feedback/tokens')
export class PresignedFeedbackController {
  constructor(private readonly links: PresignedFeedbackService) {}

  /** One request or a list of them, answered in the same form. */
  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: 'Make links that leave feedback on a run' })
  async create(@Tenant() tenantId: TenantId, @Body({ schema: createFeedbackTokensSchema }) body: CreateFeedbackTokens) {
    if (Array.isArray(body)) return this.links.createLinks(tenantId, body);
    const [made] = await this.links.createLinks(tenantId, [body]);
    return made;
  }

  @Get()
  @ApiOperation({ summary: 'List the links that leave feedback on a run' })
  list(
    @Tenant() tenantId: TenantId,
    @Query({ schema: listFeedbackTokensSchema }) query: z.output<typeof listFeedbackTokensSchema>,
  ) {
    return this.links.listLinks(tenantId, query.run_id, query.limit, query.offset);
  }
}
