import { Module } from '@nestjs/common';
import { AssistantsController } from './assistants.controller';
import { AssistantsModule } from './assistants.module';

@Module({ imports: [AssistantsModule], controllers: [AssistantsController] })
export class AssistantsApiModule {}
