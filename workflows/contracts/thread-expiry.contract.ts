/** Id of the deployment's Schedule, which searches the threads of all tenants. */
export const THREAD_EXPIRY_SCHEDULE_ID = 'thread-expiry';
/** Temporal adds the time to it. */
export const THREAD_EXPIRY_WORKFLOW_ID = 'thread-expiry';

export interface ThreadExpiryInput {
  /** Maximum of threads to process. */
  limit: number;
}

export interface ThreadExpiryResult {
  /** Threads that are gone with their runs, events and checkpoints. */
  deleted: number;
  /** Threads that were pruned to their latest state. */
  pruned: number;
  /** Threads whose processing failed: the log has the reason, and the next search finds them again. */
  failed: number;
}

export interface ThreadExpiryActivities {
  /** Deletes or prunes expired threads. Safe to repeat. */
  expireThreads(input: ThreadExpiryInput): Promise<ThreadExpiryResult>;
}
