/** One task queue per kind of work, so that each scales and is limited on its own. */
export const RUNS_QUEUE = 'gantry-runs';
const RUNS_HELD = `${RUNS_QUEUE}-held-`;
/** Task queue of one process, for activities about the runs that it owns. */
export const runsHeldQueue = (processId: string): string => `${RUNS_HELD}${processId}`;
/** Id of the process with this task queue. */
export const holderOf = (heldQueue: string): string => heldQueue.slice(RUNS_HELD.length);
export const EXPORTS_QUEUE = 'gantry-exports';
export const WEBHOOKS_QUEUE = 'gantry-webhooks';
/** Work that Schedules start: ticks of crons, and the search for expired threads. */
export const CRONS_QUEUE = 'gantry-crons';
