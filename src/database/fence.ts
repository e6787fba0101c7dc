/** The attempt that a write belongs to. */
export interface Fence {
  runId: string;
  attempt: number;
}

/** Another attempt owns the run, so no further write of this one may succeed. */
export class FencedError extends Error {
  constructor(fence: Fence) {
    super(`Attempt ${fence.attempt} of run ${fence.runId} has lost the run`);
    this.name = 'FencedError';
  }
}

/**
 * A row as long as the attempt ($2) holds the run ($1). The function locks the run: the check and a write in the same statement
 * are one, and a later attempt can't begin between them. It asks about the tenant that the connection is set to.
 */
export const HOLDS_RUN = `SELECT 1 WHERE attempt_holds_run($1, $2)`;
