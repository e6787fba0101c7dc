import type { EntityManager } from 'typeorm';
import { storedJson } from '../database/at-rest';
import { storableJson } from '../database/storable-text';
import { THREAD_STATE_CHANNEL } from '../streams/run-event';
import type { ThreadStatus } from './thread.entity';
import type { ThreadKey } from './thread-key';

/** The part of the graph's state that the thread's row stores. */
export interface ThreadState {
  values: unknown;
  next: string[];
  interrupts: Record<string, unknown[]>;
}

/** Edits of threads' states by hand. */
export class ThreadEdits {
  constructor(private readonly manager: EntityManager) {}

  /**
   * Runs an edit of the state, and stores its result and the resulting status. Meanwhile the thread can be neither deleted nor
   * pruned, since the new checkpoint refers to stored data of its parent. Resolves to null when there is no such thread, and to
   * 'busy' when a run is in flight; one that is created meanwhile begins after the edit.
   */
  edit<S extends ThreadState>(thread: ThreadKey, edit: () => Promise<S>): Promise<S | 'busy' | null> {
    return this.manager.transaction(async (manager) => {
      const status = await holdThread(manager, thread);
      if (status === undefined) return null;
      if (status === 'busy') return 'busy';
      const state = await edit();
      await saveState(manager, thread, state);
      return state;
    });
  }
}

/** Keeps the thread and its stored data until the transaction ends: runs on it continue, but none begins or ends. */
export async function holdThread(
  manager: EntityManager,
  { tenantId, threadId }: ThreadKey,
): Promise<ThreadStatus | undefined> {
  const [found]: { status: ThreadStatus }[] = await manager.query(
    `SELECT status FROM threads WHERE tenant_id = $1 AND thread_id = $2 FOR KEY SHARE`,
    [tenantId, threadId],
  );
  return found?.status;
}

async function saveState(
  manager: EntityManager,
  { tenantId, threadId }: ThreadKey,
  state: ThreadState,
): Promise<void> {
  await manager.query(
    `WITH saved AS (UPDATE threads SET "values" = $3, interrupts = $4, status = $5, settled_status = $5, error = NULL, updated_at = now(), state_updated_at = now()
     WHERE tenant_id = $1 AND thread_id = $2 AND status <> 'busy' RETURNING thread_id)
     SELECT pg_notify('${THREAD_STATE_CHANNEL}', $1 || '/' || thread_id) FROM saved`,
    [
      tenantId,
      threadId,
      storedJson('thread', 'values', storableJson(JSON.stringify(state.values))),
      storedJson('thread', 'interrupts', storableJson(JSON.stringify(state.interrupts))),
      state.next.length > 0 ? 'interrupted' : 'idle',
    ],
  );
}
