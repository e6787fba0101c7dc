import { runWorkflowId } from '../../workflows/contracts/run.contract';
import type { RunExplanation } from '../runs/explanation/explain-run';
import type { RunFacts } from '../runs/explanation/run-facts';

/** An explained run as JSON for programs and as text for people; nothing of its input, state or error's stack. */
export function toReport(facts: RunFacts & { explanation: RunExplanation }): { fields: object; text: string } {
  const { run, explanation, threadStatus, lastEvents, checkpoint, delivery, temporal } = facts;
  const isKnown = !('unknown' in temporal);
  const fields = {
    run_id: run.runId,
    tenant_id: run.tenantId,
    thread_id: run.threadId,
    assistant_id: run.assistantId,
    graph_id: run.graphId,
    status: run.status,
    attempt: run.attempt,
    owner: run.status === 'running' ? run.taskQueue : null,
    thread_status: threadStatus,
    checkpoint,
    last_events: lastEvents,
    webhook: delivery && { delivery_id: delivery.deliveryId, status: delivery.status, attempts: delivery.attempts },
    workflow_id: runWorkflowId(run.runId),
    workflow: isKnown ? (temporal.workflow ?? null) : null,
    workers: isKnown ? temporal.workers : null,
    explanation,
  };
  const activities = isKnown ? (temporal.workflow?.activities ?? []) : [];
  const rows: [string, string | null][] = [
    ['Waits for', explanation.waits_for],
    ['What to do', explanation.advice],
    ['Graph', `${run.graphId}, assistant ${run.assistantId}`],
    ['Thread', `${run.threadId} (${threadStatus})`],
    ['Tenant', run.tenantId],
    ['Owner', fields.owner && `the worker process that polls task queue ${fields.owner}`],
    ['Checkpoint', checkpoint && `${checkpoint.id}, ${checkpoint.time}`],
    ['Last events', lastEvents.map(({ seq, event }) => `${seq} ${event}`).join(', ') || null],
    ['Workflow', isKnown ? `${fields.workflow_id}: ${temporal.workflow?.status ?? 'none'}` : fields.workflow_id],
    ...activities.map(({ type, attempt }): [string, string] => ['Activity', `${type}, attempt ${attempt ?? 1}`]),
    ['Workers', isKnown ? `${temporal.workers} (asked Temporal for work in the last 2 minutes)` : null],
    ['Webhook', delivery && `delivery ${delivery.deliveryId}: ${delivery.status}, attempts: ${delivery.attempts}`],
  ];
  const shown = rows.filter((row): row is [string, string] => row[1] !== null);
  const width = Math.max(...shown.map(([name]) => name.length));
  const lines = shown.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
  return { fields, text: [explanation.status, ...lines].join('\n') };
}
