import { Module } from '@nestjs/common';
import { TemporalModule } from '../../temporal/temporal.module';
import { RunExplanationService } from './run-explanation.service';

@Module({ imports: [TemporalModule], providers: [RunExplanationService], exports: [RunExplanationService] })
export class RunExplanationModule {}
