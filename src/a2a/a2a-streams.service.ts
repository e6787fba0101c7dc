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

/** How often a subscriber of a task that waits for an answer looks whether it has come. */
const WAIT_POLL_MS = 1_000;

export interface FollowOptions {
  historyLength?: number | undefined;
  /**
   * For a subscriber: from the task's present state to its end, questions included. The sender of a message gets all events of
   * its turn instead, however far that is by now.
   */
  throughQuestions: boolean;
  signal: AbortSignal;
}

/** Tasks as they go, from the event logs of their runs, on whichever replica is asked. */
@Injectable()
export class A2aStreamsService {
  constructor(
    private readonly tasks: A2aTasksService,
    private readonly reader: EventReader,
    private readonly log: EventLogRepository,
  ) {}

  /** Resolves to the task when its turn is over (or it was called off), or when the signal says so. */
  async settled(agent: Agent, task: TaskRow, signal: AbortSignal): Promise<TaskRow> {
    let row = task;
    while (isTaskInFlight(row) && !signal.aborted) {
      for await (const events of this.follow(agent, row, -1, signal)) if (events.some(endsTurn)) break;
      row = await this.tasks.getTask(agent, row.taskId);
    }
    return row;
  }

  /** The task, then what happens to it; ends with its turn, or with the task. */
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

  /** The task as it is, with what the log of its turn holds by now taken in; `after` is where to continue. */
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

  /** Where the task came to rest, with the question that it asks. */
  private async ending(row: TaskRow): Promise<StreamResponse> {
    const [now] = await this.tasks.render([row], { historyLength: 0, withArtifacts: false });
    return status(row, now.status);
  }

  /** Takes in what the log holds by now; `after` is where to continue. */
  private async catchUp(task: TaskRow): Promise<{ events: TurnEvents; after: number }> {
    const events = new TurnEvents(task);
    let after = -1;
    for (;;) {
      const [page] = await this.log.readMany([{ runId: task.runId, after }]);
      const ending = page.findIndex(endsTurn);
      for (const event of ending < 0 ? page : page.slice(0, ending)) {
        events.absorb(event);
        after = event.seq;
      }
      if (page.length === 0 || ending >= 0) return { events, after };
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
    return this.reader.followRun(runId, after, signal, isOver);
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
