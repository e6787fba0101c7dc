import { Module } from '@nestjs/common';
import { RunOrchestrator } from './run-orchestrator';
import { TemporalClient } from './temporal-client';

@Module({
  providers: [TemporalClient, RunOrchestrator],
  exports: [TemporalClient, RunOrchestrator],
})
export class TemporalModule {}
