/** Id of the deployment's Schedule, which searches the threads of all tenants. */
export const THREAD_EXPIRY_SCHEDULE_ID = 'thread-expiry';
/** Temporal adds the time to it. */
export const THREAD_EXPIRY_WORKFLOW_ID = 'thread-expiry';

export interface ThreadExpiryInput {
  /** Threads to deal with at most. */
  limit: number;
}

export interface ThreadExpiryResult {
  /** Threads that are gone with their runs, events and checkpoints. */
  deleted: number;
  /** Threads that were cut down to what a further run needs. */
  pruned: number;
  /** Threads that could not be dealt with: the log says why, and the next search finds them again. */
  failed: number;
}

export interface ThreadExpiryActivities {
  /** Deals with threads that have had their time. Safe to repeat. */
  expireThreads(input: ThreadExpiryInput): Promise<ThreadExpiryResult>;
}
