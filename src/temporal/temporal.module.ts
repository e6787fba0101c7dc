import { Module } from '@nestjs/common';
import { ExportOrchestrator } from './export-orchestrator';
import { RunOrchestrator } from './run-orchestrator';
import { TemporalClient } from './temporal-client';
import { WebhookOrchestrator } from './webhook-orchestrator';

@Module({
  providers: [TemporalClient, ExportOrchestrator, RunOrchestrator, WebhookOrchestrator],
  exports: [TemporalClient, ExportOrchestrator, RunOrchestrator, WebhookOrchestrator],
})
export class TemporalModule {}
