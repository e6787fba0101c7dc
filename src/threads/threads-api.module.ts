import { Module } from '@nestjs/common';
import { ThreadsController } from './threads.controller';
import { ThreadsModule } from './threads.module';

@Module({ imports: [ThreadsModule], controllers: [ThreadsController] })
export class ThreadsApiModule {}
