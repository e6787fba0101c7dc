import { Module } from '@nestjs/common';
import { AssistantsModule } from '../assistants/assistants.module';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { CryptoModule } from '../crypto/crypto.module';
import { TemporalModule } from '../temporal/temporal.module';
import { ThreadsModule } from '../threads/threads.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { CronAccess } from './cron-access';
import { CronDefinition } from './cron-definition';
import { CronTicksService } from './cron-ticks.service';
import { CronsController } from './crons.controller';
import { CronsModule } from './crons.module';
import { CronsService } from './crons.service';

/** The api's half: changing crons, and runs by hand. */
@Module({
  imports: [
    AssistantsModule,
    CronsModule,
    CryptoModule,
    CustomAuthModule,
    TemporalModule,
    ThreadsModule,
    WebhooksModule,
  ],
  controllers: [CronsController],
  providers: [CronAccess, CronDefinition, CronTicksService, CronsService],
})
export class CronsApiModule {}
