import { Injectable } from '@nestjs/common';
import { TypedSearchAttributes } from '@temporalio/common';
import { type CalendarSpec, type Range, ScheduleOverlapPolicy } from '@temporalio/client';
import type { cronWorkflow } from '../../workflows/cron.workflow';
import {
  cronScheduleId,
  cronWakeWorkflowId,
  cronWorkflowId,
  type CronWorkflowInput,
} from '../../workflows/contracts/cron.contract';
import { CRONS_QUEUE } from '../../workflows/contracts/queues';
import { cronIdAttribute, tenantIdAttribute } from '../../workflows/contracts/search-attributes';
import { TemporalClient } from './temporal-client';

/** Days on which a calendar matches; a missing field matches every day. 0 is Sunday. */
export interface CronDays {
  daysOfMonth?: number[];
  weekdays?: number[];
  months?: number[];
  years?: { start: number; end: number; step: number }[];
}

export interface CronCalendar extends CronDays {
  seconds: number[];
  minutes: number[];
  hours: number[];
}

/** Definition of a cron's Schedule. */
export interface CronScheduleSpec {
  cronId: string;
  tenantId: string;
  /** Revision of the cron's row to which a wake-up belongs. */
  revision: number;
  expression: string;
  calendars: CronCalendar[];
  timezone: string | null;
  endTime: Date | null;
  paused: boolean;
  note: string;
}

/** A Schedule as it is in Temporal, where people can pause it too. */
export interface CronScheduleState {
  paused: boolean;
  note: string;
}

/**
 * How late a wake-up may be: after an outage of Temporal the Schedule still wakes the cron, and the cron's own rule says
 * which of the missed ticks is run.
 */
const CATCHUP_WINDOW = '365 days';

const WEEKDAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'] as const;
const MONTHS = [
  'JANUARY',
  'FEBRUARY',
  'MARCH',
  'APRIL',
  'MAY',
  'JUNE',
  'JULY',
  'AUGUST',
  'SEPTEMBER',
  'OCTOBER',
  'NOVEMBER',
  'DECEMBER',
] as const;

/** Crons as Schedules: `cron-<cron_id>`, which wake a short workflow with ids only. */
@Injectable()
export class CronOrchestrator {
  constructor(private readonly temporal: TemporalClient) {}

  /** Creates or updates the Schedule. */
  async putSchedule(cron: CronScheduleSpec): Promise<void> {
    await this.temporal.putSchedule<typeof cronWorkflow>({
      scheduleId: cronScheduleId(cron.cronId),
      spec: {
        calendars: cron.calendars.map((calendar) => toCalendarSpec(calendar, cron.expression)),
        timezone: cron.timezone ?? 'UTC',
        ...(cron.endTime && { endAt: cron.endTime }),
      },
      action: {
        type: 'startWorkflow',
        workflowType: 'cronWorkflow',
        workflowId: cronWorkflowId(cron.cronId),
        taskQueue: CRONS_QUEUE,
        args: [inputOf(cron)],
        typedSearchAttributes: labels(cron),
      },
      // A wake-up brings the cron up to date, so one after the current one is enough, however many ticks were missed.
      policies: { overlap: ScheduleOverlapPolicy.BUFFER_ONE, catchupWindow: CATCHUP_WINDOW },
      state: { paused: cron.paused, note: cron.note },
      typedSearchAttributes: labels(cron),
    });
  }

  /** Deletes the Schedule; one that isn't there is success. */
  deleteSchedule(cronId: string): Promise<void> {
    return this.temporal.deleteSchedule(cronScheduleId(cronId));
  }

  /** Undefined when there is none. */
  describeSchedule(cronId: string): Promise<CronScheduleState | undefined> {
    return this.temporal.describeSchedule(cronScheduleId(cronId));
  }

  /** The Schedules of all crons, as Temporal's list has them, which lags by a moment. */
  async *list(): AsyncIterable<CronScheduleState & { cronId: string }> {
    const prefix = cronScheduleId('');
    for await (const { scheduleId, ...state } of this.temporal.listSchedules()) {
      if (scheduleId.startsWith(prefix)) yield { ...state, cronId: scheduleId.slice(prefix.length) };
    }
  }

  /** Starts the runs that the cron's row has waiting, without a tick. */
  async wake(cron: CronWorkflowInput, wakeId: string): Promise<void> {
    await this.temporal.startOnce<typeof cronWorkflow>('cronWorkflow', {
      workflowId: cronWakeWorkflowId(cron.cronId, wakeId),
      taskQueue: CRONS_QUEUE,
      args: [inputOf(cron)],
      typedSearchAttributes: labels(cron),
    });
  }
}

function inputOf({ cronId, tenantId, revision }: CronWorkflowInput): CronWorkflowInput {
  return { cronId, tenantId, revision };
}

function labels({ cronId, tenantId }: { cronId: string; tenantId: string }): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: cronIdAttribute, value: cronId },
    { key: tenantIdAttribute, value: tenantId },
  ]);
}

function toCalendarSpec(calendar: CronCalendar, expression: string): CalendarSpec {
  const { seconds, minutes, hours, daysOfMonth, weekdays, months, years } = calendar;
  return {
    second: ranges(seconds),
    minute: ranges(minutes),
    hour: ranges(hours),
    dayOfMonth: daysOfMonth ? ranges(daysOfMonth) : '*',
    dayOfWeek: weekdays ? weekdays.map((day) => WEEKDAYS[day]) : '*',
    month: months && months.length < MONTHS.length ? months.map((month) => MONTHS[month - 1]) : '*',
    year: years ?? '*',
    comment: expression,
  };
}

/** Neighbours as one range, which is how an operator reads them. */
function ranges(values: number[]): Range<number>[] {
  const result: { start: number; end: number; step: number }[] = [];
  for (const value of values) {
    const last = result.at(-1);
    if (last?.end === value - 1) last.end = value;
    else result.push({ start: value, end: value, step: 1 });
  }
  return result;
}
