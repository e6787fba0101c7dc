import { toApiTime } from '../http/api-time';
import type { ThreadEntity } from './thread.entity';
import type { Thread } from './threads.schemas';

export function toThread(row: ThreadEntity): Thread {
  return {
    thread_id: row.threadId,
    created_at: toApiTime(row.createdAt),
    updated_at: toApiTime(row.updatedAt),
    state_updated_at: row.stateUpdatedAt && toApiTime(row.stateUpdatedAt),
    metadata: row.metadata,
    status: row.status,
    config: row.config,
    values: row.values ?? null,
    interrupts: row.interrupts,
    error: row.error,
  };
}
