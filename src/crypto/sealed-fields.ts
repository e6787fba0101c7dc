/**
 * Context to which a sealed value is bound: in another row, or for another tenant, it can't be decrypted. Only this file makes
 * one, so that nothing can be sealed in a place that the rotation of keys doesn't know.
 */
export type SealingContext = string & { readonly brand: 'SealingContext' };

/** A column of sealed values. */
export interface SealedField {
  table: string;
  column: string;
  /** Field of a jsonb column that is sealed; absent where the whole column is. */
  field?: string;
  /** Key of a row beside its tenant; the first column is a UUID. */
  keyColumns: string[];
  context: (tenantId: string, ...key: string[]) => SealingContext;
}

function sealedField(
  place: Omit<SealedField, 'context'>,
  context: (tenantId: string, ...key: string[]) => string,
): SealedField {
  return { ...place, context: (tenantId, ...key) => context(tenantId, ...key) as SealingContext };
}

/** Every column of sealed values. Values that are stored already depend on the texts of the contexts. */
export const SEALED_FIELDS = {
  destinationCredentials: sealedField(
    { table: 'export_destinations', column: 'credentials', keyColumns: ['destination_id'] },
    (tenantId, id) => `export_destinations:${tenantId}:${id}`,
  ),
  exportWebhook: sealedField(
    { table: 'bulk_exports', column: 'webhook', keyColumns: ['export_id'] },
    (tenantId, id) => `bulk_exports/${tenantId}/${id}/webhook`,
  ),
  cronWebhook: sealedField(
    { table: 'crons', column: 'webhook', keyColumns: ['cron_id'] },
    (tenantId, id) => `crons/${tenantId}/${id}/webhook`,
  ),
  runWebhook: sealedField(
    { table: 'runs', column: 'webhook', keyColumns: ['run_id'] },
    (tenantId, id) => `runs/${tenantId}/${id}/webhook`,
  ),
  runHeaders: sealedField(
    { table: 'runs', column: 'kwargs', field: 'sealed_headers', keyColumns: ['run_id'] },
    (tenantId, id) => `runs/${tenantId}/${id}/headers`,
  ),
  deliveryUrl: sealedField(
    { table: 'webhook_deliveries', column: 'sealed_url', keyColumns: ['delivery_id'] },
    (tenantId, id) => `webhook_deliveries/${tenantId}/${id}/url`,
  ),
  deliveryHeaders: sealedField(
    { table: 'webhook_deliveries', column: 'sealed_headers', keyColumns: ['delivery_id'] },
    (tenantId, id) => `webhook_deliveries/${tenantId}/${id}/headers`,
  ),
  shareToken: sealedField(
    { table: 'trace_shares', column: 'sealed_token', keyColumns: ['share_id'] },
    (tenantId, id) => `trace_shares/${tenantId}/${id}`,
  ),
  feedbackLinkToken: sealedField(
    { table: 'trace_feedback_links', column: 'sealed_token', keyColumns: ['link_id'] },
    (tenantId, id) => `trace_feedback_links/${tenantId}/${id}`,
  ),
  pushConfig: sealedField(
    { table: 'a2a_push_configs', column: 'sealed', keyColumns: ['task_id', 'config_id'] },
    (tenantId, taskId, configId) => `a2a_push_configs/${tenantId}/${taskId}/${configId}`,
  ),
} as const;

/** A jsonb column with sealed values anywhere in it (SecretValues). */
export interface SealedDocument {
  table: string;
  column: string;
  keyColumns: string[];
}

/** Every column in whose JSON callers' secrets are sealed in their place. */
export const SEALED_DOCUMENTS: readonly SealedDocument[] = [
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

/** Context of a value that is sealed inside a document: only its tenant, since documents are copied between rows. */
export function documentContext(tenantId: string): SealingContext {
  return `values/${tenantId}` as SealingContext;
}
