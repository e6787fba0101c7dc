import { Module } from '@nestjs/common';
import { CryptoModule } from '../crypto/crypto.module';
import { TemporalModule } from '../temporal/temporal.module';
import { DeliveryExecutor } from './delivery-executor';
import { DeliverySweep } from './delivery-sweep';
import { WebhookSender } from './webhook-sender';
import { WebhookMetrics } from './webhook.metrics';
import { WebhooksModule } from './webhooks.module';

/** The worker's half: attempts and the sweep. */
@Module({
  imports: [WebhooksModule, CryptoModule, TemporalModule],
  providers: [WebhookSender, WebhookMetrics, DeliveryExecutor, DeliverySweep],
  exports: [DeliveryExecutor, DeliverySweep],
})
export class WebhooksWorkerModule {}
