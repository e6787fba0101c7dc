import { Module } from '@nestjs/common';
import { TemporalModule } from '../temporal/temporal.module';
import { SystemController } from './system.controller';
import { SystemService } from './system.service';

@Module({ imports: [TemporalModule], controllers: [SystemController], providers: [SystemService] })
export class SystemModule {}
