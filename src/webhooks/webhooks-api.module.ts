import { Module } from '@nestjs/common';
import { WebhooksController } from './webhooks.controller';
import { WebhooksModule } from './webhooks.module';

@Module({ imports: [WebhooksModule], controllers: [WebhooksController] })
export class WebhooksApiModule {}
