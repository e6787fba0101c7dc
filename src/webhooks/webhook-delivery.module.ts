import { Module } from '@nestjs/common';
import { CryptoModule } from '../crypto/crypto.module';
import { TemporalModule } from '../temporal/temporal.module';
import { DeliveryAttemptsService } from './delivery-attempts.service';
import { DeliverySweep } from './delivery-sweep';
import { WebhookSender } from './webhook-sender';
import { WebhookMetrics } from './webhook.metrics';
import { WebhooksModule } from './webhooks.module';

/** The worker's half: attempts and the sweep. */
@Module({
  imports: [WebhooksModule, CryptoModule, TemporalModule],
  providers: [WebhookSender, WebhookMetrics, DeliveryAttemptsService, DeliverySweep],
  exports: [DeliveryAttemptsService, DeliverySweep],
})
export class WebhookDeliveryModule {}
