import { Module } from '@nestjs/common';
import { RunsModule } from '../runs/runs.module';
import { ThreadsModule } from '../threads/threads.module';
import { AssistantsModule } from '../assistants/assistants.module';
import { AssistantRemovalController } from './assistant-removal.controller';
import { AssistantRemovalService } from './assistant-removal.service';

/** Apart from the assistants themselves: runs and threads know assistants, and not the other way round. */
@Module({
  imports: [AssistantsModule, RunsModule, ThreadsModule],
  controllers: [AssistantRemovalController],
  providers: [AssistantRemovalService],
  exports: [AssistantRemovalService],
})
export class AssistantRemovalModule {}
