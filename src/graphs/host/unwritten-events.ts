import type { MessageChannel } from './message-channel';
import type { RunEventMessage } from './protocol';

/** Bytes of a process's events that may wait for the log: beyond them, its next messages are not read. */
const MAX_UNWRITTEN = 4 * 1024 * 1024;
/** Overhead of an event in this process, in bytes. */
const EVENT_BYTES = 1024;

/** Events of one graph process that are not in the log yet. */
export class UnwrittenEvents {
  private bytes = 0;

  constructor(private readonly messages: MessageChannel) {}

  /** Counts events until they are written, and reads no more while there are too many. */
  async untilWritten(events: RunEventMessage[], write: (events: RunEventMessage[]) => Promise<void>): Promise<void> {
    const size = events.reduce((sum, { data }) => sum + data.length + EVENT_BYTES, 0);
    this.bytes += size;
    const readOn = this.bytes > MAX_UNWRITTEN ? this.messages.hold() : undefined;
    try {
      await write(events);
    } finally {
      this.bytes -= size;
      readOn?.();
    }
  }
}
