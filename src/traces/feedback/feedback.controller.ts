import { Body, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { z } from 'zod';
import { AliasedController } from '../../http/aliased-controller';
import { TraceClients, Tenant } from '../../auth/tenant';
import type { TenantId } from '../../auth/tenant';
import { toFeedback } from './feedback.mapper';
import {
  createFeedbackSchema,
  feedbackParamsSchema,
  listFeedbackSchema,
  updateFeedbackSchema,
} from './feedback.schemas';
import type { CreateFeedback, ListFeedback, UpdateFeedback } from './feedback.schemas';
import { FeedbackService } from './feedback.service';
import { RouteTags } from '../../http/route-tags';
import { SearchRoute } from '../../http/search-route';

type FeedbackParams = z.output<typeof feedbackParamsSchema>;

/** Scores and comments on traced runs. */
@RouteTags('Trace feedback')
@TraceClients()
@AliasedController('api/v1/feedback', 'api/feedback', 'feedback')
export class FeedbackController {
  constructor(private readonly feedback: FeedbackService) {}

  /** Repeating an id replaces the earlier feedback. */
  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: 'Create feedback' })
  async create(@Tenant() tenantId: TenantId, @Body({ schema: createFeedbackSchema }) body: CreateFeedback) {
    return toFeedback(await this.feedback.createFeedback(tenantId, body));
  }

  @Get()
  @SearchRoute()
  @ApiOperation({ summary: 'List feedback' })
  async list(@Tenant() tenantId: TenantId, @Query({ schema: listFeedbackSchema }) query: ListFeedback) {
    return (await this.feedback.listFeedback(tenantId, query)).map(toFeedback);
  }

  @Get(':feedback_id')
  @ApiOperation({ summary: 'Get feedback' })
  async read(@Tenant() tenantId: TenantId, @Param({ schema: feedbackParamsSchema }) params: FeedbackParams) {
    return toFeedback(await this.feedback.readFeedback(tenantId, params.feedback_id));
  }

  @Patch(':feedback_id')
  @ApiOperation({ summary: 'Update feedback' })
  async update(
    @Tenant() tenantId: TenantId,
    @Param({ schema: feedbackParamsSchema }) params: FeedbackParams,
    @Body({ schema: updateFeedbackSchema }) body: UpdateFeedback,
  ) {
    return toFeedback(await this.feedback.updateFeedback(tenantId, params.feedback_id, body));
  }

  @Delete(':feedback_id')
  @ApiOperation({ summary: 'Delete feedback' })
  async delete(@Tenant() tenantId: TenantId, @Param({ schema: feedbackParamsSchema }) params: FeedbackParams) {
    await this.feedback.deleteFeedback(tenantId, params.feedback_id);
    return { message: 'Feedback deleted' };
  }
}

/** The same routes for clients whose endpoint is the server's root, or `/api`. */
