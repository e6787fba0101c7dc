/** What the sealed webhook URL of a run is bound to. */
export function webhookSealContext(tenantId: string, runId: string): string {
  return `runs/${tenantId}/${runId}/webhook`;
}
