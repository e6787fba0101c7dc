import { pushContext } from '../a2a/a2a-push';
import type { SealedColumn, SealedJson } from '../crypto/secret-rotation.service';
import { cronWebhookContext } from '../crons/cron-firing.service';
import { destinationContext } from '../exports/destinations.service';
import { exportWebhookContext } from '../exports/export-webhooks';
import { runHeadersContext } from '../runs/run-headers';
import { runWebhookContext } from '../runs/run-webhooks';
import { feedbackLinkContext, shareContext } from '../traces/link-tokens';
import { headersContext, sealContext } from '../webhooks/deliveries.service';

/** Every place where a sealed value is stored: the rotation of keys must find them all. */
export const SEALED_COLUMNS: SealedColumn[] = [
  {
    table: 'export_destinations',
    column: 'credentials',
    keyColumns: ['destination_id'],
    context: destinationContext,
  },
  { table: 'bulk_exports', column: 'webhook', keyColumns: ['export_id'], context: exportWebhookContext },
  { table: 'crons', column: 'webhook', keyColumns: ['cron_id'], context: cronWebhookContext },
  { table: 'runs', column: 'webhook', keyColumns: ['run_id'], context: runWebhookContext },
  { table: 'runs', column: 'kwargs', field: 'sealed_headers', keyColumns: ['run_id'], context: runHeadersContext },
  { table: 'webhook_deliveries', column: 'sealed_url', keyColumns: ['delivery_id'], context: sealContext },
  { table: 'webhook_deliveries', column: 'sealed_headers', keyColumns: ['delivery_id'], context: headersContext },
  { table: 'trace_shares', column: 'sealed_token', keyColumns: ['share_id'], context: shareContext },
  { table: 'trace_feedback_links', column: 'sealed_token', keyColumns: ['link_id'], context: feedbackLinkContext },
  { table: 'a2a_push_configs', column: 'sealed', keyColumns: ['task_id', 'config_id'], context: pushContext },
];

/** Every column in whose JSON callers' secrets are sealed in their place. */
export const SEALED_JSON: SealedJson[] = [
  { table: 'assistants', column: 'config', keyColumns: ['assistant_id'] },
  { table: 'assistants', column: 'context', keyColumns: ['assistant_id'] },
  { table: 'assistant_versions', column: 'config', keyColumns: ['assistant_id', 'version'] },
  { table: 'assistant_versions', column: 'context', keyColumns: ['assistant_id', 'version'] },
  { table: 'crons', column: 'payload', keyColumns: ['cron_id'] },
  { table: 'crons', column: 'auth_user', keyColumns: ['cron_id'] },
  { table: 'runs', column: 'kwargs', keyColumns: ['run_id'] },
  { table: 'webhook_deliveries', column: 'auth_user', keyColumns: ['delivery_id'] },
  { table: 'threads', column: 'config', keyColumns: ['tenant_id', 'thread_id'] },
];
