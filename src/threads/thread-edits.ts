import type { EntityManager } from 'typeorm';
import { storedJson } from '../database/at-rest';
import { isLockTimeout } from '../database/sql-errors';
import { storableJson } from '../database/storable-text';
import { THREAD_STATE_CHANNEL } from '../streams/run-event';
import { atMost, LATE } from '../time/at-most';
import type { ThreadStatus } from './thread.entity';
import { threadErrors } from './thread.errors';
import type { ThreadKey } from './thread-key';

/** The part of the graph's state that the thread's row stores. */
export interface ThreadState {
  values: unknown;
  next: string[];
  interrupts: Record<string, unknown[]>;
}

/** How long an edit waits for those before it. */
const WAIT_MS = 30_000;

const LOCK_EDITS = `SELECT pg_advisory_xact_lock(hashtextextended('gantry-thread-edits:' || $1, 0))`;

/** Edits of threads' states by hand: those of a thread one after the other, since each continues from the state that it finds. */
export class ThreadEdits {
  /** Tenant and thread → when every edit that this process has accepted is over. */
  private readonly accepted = new Map<string, Promise<void>>();

  constructor(private readonly manager: EntityManager) {}

  /**
   * Runs an edit of the state, and stores its result and the resulting status. Meanwhile the thread can be neither deleted nor
   * pruned, since the new checkpoint refers to stored data of its parent. Resolves to null when there is no such thread, and to
   * 'busy' when a run is in flight; one that is created meanwhile begins after the edit.
   * @throws {ApiError} 409 when the edits before this one take too long
   */
  edit<S extends ThreadState>(thread: ThreadKey, edit: () => Promise<S>): Promise<S | 'busy' | null> {
    const key = `${thread.tenantId}/${thread.threadId}`;
    return this.inTurn(key, () =>
      this.manager.transaction(async (manager) => {
        await lockEdits(manager, key);
        const status = await holdThread(manager, thread);
        if (status === undefined) return null;
        if (status === 'busy') return 'busy';
        const state = await edit();
        await saveState(manager, thread, state);
        return state;
      }),
    );
  }

  /** An edit waits for those before it in the same process without a connection, since the pool has few of them. */
  private inTurn<T>(key: string, edit: () => Promise<T>): Promise<T> {
    const before = this.accepted.get(key) ?? Promise.resolve();
    const edited = atMost(WAIT_MS, before).then((turn) => {
      if (turn === LATE) throw threadErrors.beingEdited();
      return edit();
    });
    const all: Promise<void> = Promise.allSettled([before, edited]).then(() => {
      if (this.accepted.get(key) === all) this.accepted.delete(key);
    });
    this.accepted.set(key, all);
    return edited;
  }
}

/** Waits for the edits of the thread in other processes, until the transaction ends. */
async function lockEdits(manager: EntityManager, key: string): Promise<void> {
  await manager.query(`SET LOCAL lock_timeout = ${WAIT_MS}`);
  await manager.query(LOCK_EDITS, [key]).catch((error: unknown) => {
    throw isLockTimeout(error) ? threadErrors.beingEdited() : error;
  });
  await manager.query('SET LOCAL lock_timeout TO DEFAULT');
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

/**
 * Stores the state in the thread's row, unless a run was created since the edit began, which will store its own. Streams of the
 * thread are notified in either case, since the edit is in the thread's checkpoints.
 */
async function saveState(manager: EntityManager, { tenantId, threadId }: ThreadKey, state: ThreadState): Promise<void> {
  await manager.query(
    `WITH saved AS (UPDATE threads SET "values" = $3, interrupts = $4, status = $5, settled_status = $5, error = NULL, updated_at = now(), state_updated_at = now()
     WHERE tenant_id = $1 AND thread_id = $2 AND status <> 'busy')
     SELECT pg_notify('${THREAD_STATE_CHANNEL}', $1 || '/' || $2)`,
    [
      tenantId,
      threadId,
      storedJson('thread', 'values', storableJson(JSON.stringify(state.values))),
      storedJson('thread', 'interrupts', storableJson(JSON.stringify(state.interrupts))),
      state.next.length > 0 ? 'interrupted' : 'idle',
    ],
  );
}
