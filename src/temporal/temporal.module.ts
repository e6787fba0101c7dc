import { Module } from '@nestjs/common';
import { CronOrchestrator } from './cron-orchestrator';
import { ExportOrchestrator } from './export-orchestrator';
import { RunOrchestrator } from './run-orchestrator';
import { TemporalClient } from './temporal-client';
import { ThreadExpiryOrchestrator } from './thread-expiry-orchestrator';
import { WebhookOrchestrator } from './webhook-orchestrator';

const PROVIDERS = [
  TemporalClient,
  CronOrchestrator,
  ExportOrchestrator,
  RunOrchestrator,
  ThreadExpiryOrchestrator,
  WebhookOrchestrator,
];

@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class TemporalModule {}
