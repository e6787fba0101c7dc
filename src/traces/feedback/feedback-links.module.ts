import { Module } from '@nestjs/common';
import { FeedbackLinks } from './feedback-links';

@Module({ providers: [FeedbackLinks], exports: [FeedbackLinks] })
export class FeedbackLinksModule {}
