import { Module } from '@nestjs/common';
import { AssistantsModule } from '../assistants/assistants.module';
import { RunsModule } from '../runs/runs.module';
import { ThreadsModule } from '../threads/threads.module';
import { AssistantRemovalService } from './assistant-removal.service';

/** Apart from the assistants themselves: runs and threads know assistants, and not the other way round. */
@Module({
  imports: [AssistantsModule, RunsModule, ThreadsModule],
  providers: [AssistantRemovalService],
  exports: [AssistantRemovalService],
})
export class AssistantRemovalModule {}
