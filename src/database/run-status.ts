/** Values of the column `runs.status`. */
export const RUN_STATUSES = ['pending', 'running', 'success', 'error', 'timeout', 'interrupted'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Statuses of a run that has not ended. */
export const IN_FLIGHT_STATUSES = ['pending', 'running'] as const satisfies RunStatus[];
export type InFlightStatus = (typeof IN_FLIGHT_STATUSES)[number];

/** The same as a condition in SQL, as the index `runs_in_flight` has it; `alias` names the table of runs. */
export function inFlightSql(alias?: string): string {
  const list = IN_FLIGHT_STATUSES.map((status) => `'${status}'`).join(', ');
  return `${alias === undefined ? '' : `${alias}.`}status IN (${list})`;
}

/** Whether a run with this status has not ended. */
export function isInFlight(status: RunStatus): status is InFlightStatus {
  return IN_FLIGHT_STATUSES.some((each) => each === status);
}
