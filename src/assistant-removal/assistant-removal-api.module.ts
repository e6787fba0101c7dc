import { Module } from '@nestjs/common';
import { AssistantRemovalController } from './assistant-removal.controller';
import { AssistantRemovalModule } from './assistant-removal.module';

@Module({ imports: [AssistantRemovalModule], controllers: [AssistantRemovalController] })
export class AssistantRemovalApiModule {}
