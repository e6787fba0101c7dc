/** One task queue per kind of work, so that each scales and is limited on its own. */
export const RUNS_QUEUE = 'gantry-runs';
/** Task queue of one process, for activities about the runs that it owns. */
export const runsHeldQueue = (processId: string): string => `${RUNS_QUEUE}-held-${processId}`;
export const EXPORTS_QUEUE = 'gantry-exports';
export const WEBHOOKS_QUEUE = 'gantry-webhooks';
/** Work that Schedules start: ticks of crons, and the search for expired threads. */
export const CRONS_QUEUE = 'gantry-crons';
