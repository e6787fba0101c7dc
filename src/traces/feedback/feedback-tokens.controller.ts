import { Body, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { z } from 'zod';
import { AliasedController } from '../../http/aliased-controller';
import { Public } from '../../auth/tenant';
import {
  feedbackTokenParams,
  type LinkedFeedback,
  linkedFeedbackQuery,
  linkedFeedbackSchema,
} from './feedback.schemas';
import { LinkedFeedbackService } from './linked-feedback.service';
import { RouteTags } from '../../http/route-tags';

type TokenParams = z.output<typeof feedbackTokenParams>;

/** Feedback by link: the token is the permission. */
@RouteTags('Trace feedback')
@Public()
@AliasedController('api/v1/feedback/tokens', 'api/feedback/tokens', 'feedback/tokens')
export class FeedbackTokensController {
  constructor(private readonly feedback: LinkedFeedbackService) {}

  /**
   * Creates feedback by a link in a mail or button: `?score=1&comment=…`. Following it again replaces the earlier feedback.
   */
  @Get(':token')
  @ApiOperation({ summary: 'Leave feedback by following a link' })
  async follow(
    @Param({ schema: feedbackTokenParams }) { token }: TokenParams,
    @Query({ schema: linkedFeedbackQuery }) query: LinkedFeedback,
  ) {
    await this.feedback.leave(token, query);
    return { message: 'Thank you' };
  }

  @Post(':token')
  @HttpCode(200)
  @ApiOperation({ summary: 'Leave feedback by link' })
  async leave(
    @Param({ schema: feedbackTokenParams }) { token }: TokenParams,
    @Body({ schema: linkedFeedbackSchema.prefault({}) }) body: LinkedFeedback,
  ) {
    await this.feedback.leave(token, body);
    return { message: 'Thank you' };
  }
}
