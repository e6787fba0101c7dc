import { Module } from '@nestjs/common';
import { GraphsModule } from '../graphs/graphs.module';
import { TemporalModule } from '../temporal/temporal.module';
import { SystemController } from './system.controller';
import { SystemService } from './system.service';

@Module({
  imports: [TemporalModule, GraphsModule.for('inspect')],
  controllers: [SystemController],
  providers: [SystemService],
})
export class SystemModule {}
