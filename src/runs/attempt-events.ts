import { storableText } from '../database/storable-text';
import type { RunEventMessage } from '../graphs/host/protocol';
import type { EventAppender } from '../streams/event-appender';
import type { NewRunEvent } from '../streams/run-event';
import type { RunEntity } from './run.entity';

/** The events that an attempt at a run emits, numbered and appended to the log. */
export class AttemptEvents {
  private lastWrite: Promise<void> = Promise.resolve();
  private failure: Error | undefined;

  /** @param nextSeq the number of the next event in the run's log */
  constructor(
    private readonly appender: EventAppender,
    private readonly run: RunEntity,
    private nextSeq: number,
  ) {}

  /**
   * Resolves when they are committed.
   * @param patienceMs time for which they may wait for others
   * @throws {EventsRefused} when another attempt holds the run; or the database's error
   */
  append(messages: RunEventMessage[], patienceMs = 0): Promise<void> {
    const { tenantId, runId, attempt, kwargs } = this.run;
    const { encryption_context: encryptionContext = {} } = kwargs;
    const events = messages.map(({ event, ...message }) => {
      // Nodes are named by people; the data are JSON, whose escapes text can hold.
      return {
        tenantId,
        runId,
        attempt,
        encryptionContext,
        seq: this.nextSeq++,
        event: storableText(event),
        ...message,
      };
    });
    this.lastWrite = this.appender.appendEvents(runId, events, patienceMs);
    // Callers see the rejection later; until then it must not count as unhandled.
    this.lastWrite.catch((error: Error) => (this.failure ??= error));
    return this.lastWrite;
  }

  /** Resolves when all are committed; rejects as `append` does, if any of them can't be. */
  async written(): Promise<void> {
    await this.lastWrite;
    this.checkComplete();
  }

  /**
   * The events that are not in flight yet, to be written with the run's end; resolves when all others are committed.
   * @throws as `append` does: a log with missing events must have no end
   */
  async rest(): Promise<NewRunEvent[]> {
    const rest = await this.appender.withdraw(this.run.runId);
    this.checkComplete();
    return rest;
  }

  private checkComplete(): void {
    if (this.failure) throw this.failure;
  }
}
