import { maskSealed } from '../crypto/secret-values';
import { toApiTime } from '../http/api-time';
import { project } from '../http/pagination';
import type { ThreadEntity } from './thread.entity';
import { extract } from './thread-extract';
import type { FoundThread, SearchThreads, Thread } from './threads.schemas';

export function toThread(row: ThreadEntity): Thread {
  return {
    thread_id: row.threadId,
    created_at: toApiTime(row.createdAt),
    updated_at: toApiTime(row.updatedAt),
    // The state of a thread on which nothing has run yet is as old as the thread: clients expect a time.
    state_updated_at: toApiTime(row.stateUpdatedAt ?? row.createdAt),
    metadata: row.metadata,
    status: row.status,
    config: maskSealed(row.config),
    values: row.values ?? null,
    interrupts: row.interrupts,
    // Kept while a busy thread may return to it.
    error: row.status === 'error' ? row.error : null,
  };
}

/** The thread with its time to live. */
export function toThreadWithTtl(row: ThreadEntity): Thread {
  return { ...toThread(row), ttl: ttlOf(row) };
}

function ttlOf({ ttlStrategy: strategy, ttlMinutes: minutes, updatedAt }: ThreadEntity): Thread['ttl'] {
  if (strategy === null || minutes === null) return null;
  const expiresAt = new Date(updatedAt.getTime() + minutes * 60_000);
  return { strategy, ttl_minutes: minutes, expires_at: toApiTime(expiresAt) };
}

/** A thread of a search, with the requested fields and extracts. */
export function toFoundThread(row: ThreadEntity, { select, extract: paths }: SearchThreads): FoundThread {
  const thread = toThread(row);
  // Of the run that was last on the thread: context and `configurable` are two names of the same values.
  const context = select?.includes('context') && { context: thread.config.configurable ?? {} };
  const [found] = project<FoundThread>([{ ...thread, ...context }], select);
  // A path into the config finds what the config shows: secrets are masked in both.
  return paths ? { ...found, extracted: extract({ ...row, config: thread.config }, paths) } : found;
}
