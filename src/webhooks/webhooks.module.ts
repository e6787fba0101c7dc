import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AppConfig } from '../config/config';
import { CryptoModule } from '../crypto/crypto.module';
import { TemporalModule } from '../temporal/temporal.module';
import { AttemptEntity } from './attempt.entity';
import { DeliveriesRepository } from './deliveries.repository';
import { DeliveriesService } from './deliveries.service';
import { DeliveryEntity } from './delivery.entity';
import { WebhookPolicy } from './webhook-policy';
import { WebhookResolver } from './webhook-resolver';
import { WebhookSettings } from './webhook-settings';

/** The part for both processes: the policy and the records. The api adds the routes, the worker the sending. */
@Module({
  imports: [TypeOrmModule.forFeature([DeliveryEntity, AttemptEntity]), CryptoModule, TemporalModule],
  providers: [
    { provide: WebhookSettings, inject: [AppConfig], useFactory: (config: AppConfig) => WebhookSettings.read(config) },
    WebhookResolver,
    WebhookPolicy,
    DeliveriesRepository,
    DeliveriesService,
  ],
  exports: [WebhookSettings, WebhookPolicy, DeliveriesRepository, DeliveriesService],
})
export class WebhooksModule {}
