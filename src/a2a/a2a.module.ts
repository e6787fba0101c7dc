import { Module } from '@nestjs/common';
import { CryptoModule } from '../crypto/crypto.module';
import { DatabaseModule } from '../database/database.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { A2aTasksRepository } from './a2a-tasks.repository';
import { A2aTurns } from './a2a-turns';

/** The part for both processes: the records, and the listener for ends of runs. */
@Module({
  imports: [DatabaseModule, CryptoModule, WebhooksModule],
  providers: [A2aTasksRepository, A2aTurns],
  exports: [A2aTasksRepository, A2aTurns],
})
export class A2aModule {}
