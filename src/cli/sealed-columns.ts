import type { SealedColumn } from '../crypto/secret-rotation.service';
import { cronWebhookContext } from '../crons/cron-firing.service';
import { destinationContext } from '../exports/destinations.service';
import { exportWebhookContext } from '../exports/export-webhooks';
import { runWebhookContext } from '../runs/run-webhooks';
import { sealContext } from '../webhooks/deliveries.service';

/** Every place where a sealed value is stored: the rotation of keys must find them all. */
export const SEALED_COLUMNS: SealedColumn[] = [
  {
    table: 'export_destinations',
    column: 'credentials',
    idColumn: 'destination_id',
    context: destinationContext,
  },
  { table: 'bulk_exports', column: 'webhook', idColumn: 'export_id', context: exportWebhookContext },
  { table: 'crons', column: 'webhook', idColumn: 'cron_id', context: cronWebhookContext },
  { table: 'runs', column: 'webhook', idColumn: 'run_id', context: runWebhookContext },
  { table: 'webhook_deliveries', column: 'sealed_url', idColumn: 'delivery_id', context: sealContext },
];
