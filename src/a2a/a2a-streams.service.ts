import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamResponse, TaskStatus } from '@a2a-js/sdk';
import { Injectable } from '@nestjs/common';
import { EventLogRepository } from '../streams/event-log.repository';
import { EventReader } from '../streams/event-reader';
import type { RunEvent } from '../streams/run-event';
import type { Agent } from './a2a-agents.service';
import { artifactsOf, isTaskInFlight, statusOf } from './a2a-task.mapper';
import type { TaskRow } from './a2a-tasks.repository';
import { A2aTasksService } from './a2a-tasks.service';
import { endsTurn, TurnEvents } from './turn-events';

/** Interval at which a subscriber checks whether a waiting task was answered. */
const WAIT_POLL_MS = 1_000;

export interface FollowOptions {
  historyLength?: number | undefined;
  /**
   * Whether to stream from the task's present state to its end, questions included, as for a subscriber. The sender of a
   * message gets all events of its turn instead, however far that is by now.
   */
  throughQuestions: boolean;
  signal: AbortSignal;
}

/** Streams of tasks from the event logs of their runs, on any replica. */
@Injectable()
export class A2aStreamsService {
  constructor(
    private readonly tasks: A2aTasksService,
    private readonly reader: EventReader,
    private readonly log: EventLogRepository,
  ) {}

  /** Resolves to the task when its turn has ended, it was cancelled, or the signal is aborted. */
  async settled(agent: Agent, task: TaskRow, signal: AbortSignal): Promise<TaskRow> {
    let row = task;
    while (isTaskInFlight(row) && !signal.aborted) {
      for await (const events of this.follow(agent, row, -1, signal)) if (events.some(endsTurn)) break;
      row = await this.tasks.getTask(agent, row.taskId);
    }
    return row;
  }

  /** Yields the task and then its events; ends with its turn, or with the task. */
  async *stream(agent: Agent, task: TaskRow, options: FollowOptions): AsyncGenerator<StreamResponse, void, undefined> {
    const { signal, historyLength, throughQuestions } = options;
    let { row, events, after } = throughQuestions
      ? await this.now(agent, task)
      : { row: asBegun(task), events: new TurnEvents(task), after: -1 };
    const answerSoFar = isTaskInFlight(row) ? events.soFar : undefined;
    const [shown] = await this.tasks.render([row], { historyLength, answerSoFar });
    yield { payload: { $case: 'task', value: shown } };
    while (!signal.aborted) {
      if (isTaskInFlight(row)) {
        yield* this.turn(agent, row, events, after, signal);
        if (signal.aborted) return;
        const now = await this.tasks.getTask(agent, row.taskId);
        if (now.runId === row.runId) {
          yield* events.finish(artifactsOf(now));
          yield await this.ending(now);
        }
        row = now;
      } else if (row.state === 'input-required' && throughQuestions) {
        const asked = row;
        row = await this.answered(agent, asked, signal);
        if (!signal.aborted && row.runId === asked.runId) yield await this.ending(row);
        else if (!signal.aborted) row = asBegun(row);
      } else return;
      events = new TurnEvents(row);
      after = -1;
    }
  }

  /** The current task, including the events in the log of its turn so far; `after` is where to continue. */
  private async now(agent: Agent, task: TaskRow): Promise<{ row: TaskRow; events: TurnEvents; after: number }> {
    let row = task;
    for (;;) {
      const caughtUp = await this.catchUp(row);
      const now = await this.tasks.getTask(agent, row.taskId);
      if (now.runId === row.runId) return { row: now, ...caughtUp };
      row = now;
    }
  }

  private async *turn(
    agent: Agent,
    task: TaskRow,
    events: TurnEvents,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<StreamResponse> {
    let hasReportedWork = task.state === 'working';
    for await (const page of this.follow(agent, task, after, signal)) {
      for (const event of page) {
        if (!hasReportedWork && event.event === 'metadata') {
          hasReportedWork = true;
          yield status(task, { ...statusOf({ ...task, state: 'working' }), timestamp: new Date().toISOString() });
        }
        yield* events.translate(event);
      }
    }
  }

  /** The final or waiting state of the task, with its question. */
  private async ending(row: TaskRow): Promise<StreamResponse> {
    const [now] = await this.tasks.render([row], { historyLength: 0, withArtifacts: false });
    return status(row, now.status);
  }

  /** Applies the events in the log so far; `after` is where to continue. */
  private async catchUp(task: TaskRow): Promise<{ events: TurnEvents; after: number }> {
    const events = new TurnEvents(task);
    let after = -1;
    for (;;) {
      const [{ events: page, isLast }] = await this.log.readMany([{ runId: task.runId, after }]);
      const ending = page.findIndex(endsTurn);
      for (const event of ending < 0 ? page : page.slice(0, ending)) {
        events.absorb(event);
        after = event.seq;
      }
      if (isLast || ending >= 0) return { events, after };
    }
  }

  private follow(
    agent: Agent,
    { taskId, runId }: TaskRow,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<RunEvent[]> {
    const isOver = async (): Promise<boolean> => {
      const now = await this.tasks.getTask(agent, taskId);
      return now.runId !== runId || !isTaskInFlight(now);
    };
    return this.reader.followRun({ runId, isOver }, after, signal);
  }

  private async answered(agent: Agent, task: TaskRow, signal: AbortSignal): Promise<TaskRow> {
    for (;;) {
      await sleep(WAIT_POLL_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return task;
      const now = await this.tasks.getTask(agent, task.taskId);
      if (now.state !== 'input-required' || now.runId !== task.runId) return now;
    }
  }
}

/** The task as its turn began: a quick one may have ended since, and is emitted from its first event all the same. */
function asBegun(task: TaskRow): TaskRow {
  return { ...task, state: 'submitted', artifacts: '[]', superseded: false, error: null };
}

function status({ taskId, contextId }: TaskRow, value: TaskStatus | undefined): StreamResponse {
  return { payload: { $case: 'statusUpdate', value: { taskId, contextId, status: value, metadata: undefined } } };
}
