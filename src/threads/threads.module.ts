import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { GraphsModule } from '../graphs/graphs.module';
import { TemporalModule } from '../temporal/temporal.module';
import { ThreadRemovalModule } from './thread-removal.module';
import { ThreadEntity } from './thread.entity';
import { ThreadsController } from './threads.controller';
import { ThreadsRepository } from './threads.repository';
import { ThreadsService } from './threads.service';

@Module({
  imports: [
    TypeOrmModule.forFeature([ThreadEntity]),
    CustomAuthModule,
    GraphsModule.for('inspect'),
    TemporalModule,
    ThreadRemovalModule,
  ],
  controllers: [ThreadsController],
  providers: [ThreadsRepository, ThreadsService],
  exports: [ThreadsService],
})
export class ThreadsModule {}
