import { z } from 'zod';
import { authVariables } from './settings/auth';
import { databaseVariables } from './settings/database';
import { exportVariables } from './settings/exports';
import { graphVariables } from './settings/graphs';
import { httpVariables } from './settings/http';
import { runVariables } from './settings/runs';
import { securityVariables } from './settings/security';
import { telemetryVariables } from './settings/telemetry';
import { temporalVariables } from './settings/temporal';
import { traceVariables } from './settings/traces';
import { webhookVariables } from './settings/webhooks';
import { workerVariables } from './settings/worker';

/**
 * Every setting that either process reads, under its environment name. Nothing else reads `process.env`. The table in
 * docs/operations.md is made of these schemas: their order, descriptions and defaults.
 */
export const environmentSchema = z.object({
  ...databaseVariables,
  ...temporalVariables,
  ...httpVariables,
  ...authVariables,
  ...securityVariables,
  ...telemetryVariables,
  ...graphVariables,
  ...runVariables,
  ...workerVariables,
  ...traceVariables,
  ...exportVariables,
  ...webhookVariables,
});

export type Environment = z.output<typeof environmentSchema>;
