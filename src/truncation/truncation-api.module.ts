import { Module } from '@nestjs/common';
import { AssistantRemovalModule } from '../assistant-removal/assistant-removal.module';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { RunsModule } from '../runs/runs.module';
import { ThreadsModule } from '../threads/threads.module';
import { StoreModule } from '../store/store.module';
import { TruncationController } from './truncation.controller';
import { TruncationRepository } from './truncation.repository';
import { TruncationService } from './truncation.service';

/** Part of the api when it is a server for tests. */
@Module({
  imports: [AssistantRemovalModule, CustomAuthModule, RunsModule, StoreModule, ThreadsModule],
  controllers: [TruncationController],
  providers: [TruncationRepository, TruncationService],
})
export class TruncationApiModule {}
