import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { CryptoModule } from '../crypto/crypto.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { RunListeners } from './run-listeners';
import { RunWebhooks } from './run-webhooks';

/** What follows a run in both processes; other features add listeners of their own. */
@Module({
  imports: [DiscoveryModule, CryptoModule, WebhooksModule],
  providers: [RunListeners, RunWebhooks],
  exports: [RunListeners, RunWebhooks],
})
export class RunListenersModule {}
