import { maskSealed } from '../crypto/secret-values';
import { toApiTime } from '../http/api-time';
import type { RunEntity } from './run.entity';
import type { Run } from './runs.schemas';

/** A run as the API shows it and as webhooks deliver it. */
export function toRun(row: RunEntity): Run {
  const {
    config: stored,
    context,
    stream_subgraphs: subgraphs,
    stream_resumable: resumable,
    // Headers and the user are only for the graph: neither the API nor a webhook shows them.
    sealed_headers: _headers,
    auth_user: _user,
    encryption_context: _encryption,
    session_name: sessionName = null,
    // Internal: how the log was written; not part of the request.
    event_protocol: _protocol,
    ...kwargs
  } = row.kwargs;
  const config = maskSealed(stored);
  return {
    run_id: row.runId,
    thread_id: row.threadId,
    assistant_id: row.assistantId,
    // Existing clients sort by it, and expect the delay of a delayed run in it.
    created_at: toApiTime(row.scheduledAt),
    updated_at: toApiTime(row.updatedAt),
    status: row.status,
    metadata: row.metadata,
    kwargs: {
      ...kwargs,
      context: maskSealed(context ?? {}),
      subgraphs,
      resumable,
      config: {
        ...config,
        metadata: row.metadata,
        configurable: {
          ...config?.configurable,
          run_id: row.runId,
          thread_id: row.threadId,
          graph_id: row.graphId,
          assistant_id: row.assistantId,
        },
      },
    },
    multitask_strategy: row.multitaskStrategy,
    // A run that ended before its cancellation took effect wasn't cancelled.
    cancel_reason: row.status === 'interrupted' ? row.cancelReason : null,
    langsmith_session_name: sessionName,
  };
}
