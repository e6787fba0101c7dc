export const cronScheduleId = (cronId: string): string => `cron-${cronId}`;
/** Temporal adds the time of the tick to it. */
export const cronWorkflowId = (cronId: string): string => `cron-tick-${cronId}`;
export const cronWakeWorkflowId = (cronId: string, wakeId: string): string => `cron-wake-${cronId}-${wakeId}`;

export interface CronWorkflowInput {
  cronId: string;
  tenantId: string;
  /** The state of the cron's row that the Schedule was made from. */
  revision: number;
}

export interface FireCronInput extends CronWorkflowInput {
  /** The tick's own time, ISO 8601; absent when waiting runs are meant and no tick. */
  scheduledAt?: string;
}

/** Numbers and ids: what a run was given never enters a history. */
export interface FireCronResult {
  /** `gone`: deleted. `paused`: disabled meanwhile. */
  outcome: 'fired' | 'nothing due' | 'paused' | 'gone';
  runIds: string[];
}

export interface CronActivities {
  /** Starts every run that is due by now: each tick's once, however often this is repeated. */
  fireCron(input: FireCronInput): Promise<FireCronResult>;
}
