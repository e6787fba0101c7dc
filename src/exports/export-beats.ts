import { Logger } from '@nestjs/common';

/** A partition without a beat for a minute is shown as stalled. */
const BEAT_MS = 10_000;

const logger = new Logger('ExportBeats');

/**
 * Heartbeats in the database, where the API reads them; a failed one doesn't stop the work. One at a time: a beat that waits holds a
 * connection, and those after it would take all that the process has.
 * @returns the timer, for `clearInterval` when the work is over
 */
export function startBeats(beat: () => Promise<void>): NodeJS.Timeout {
  let isBeating = false;
  return setInterval(() => {
    if (isBeating) return;
    isBeating = true;
    beat()
      .catch((error: unknown) => logger.debug({ err: error }, 'A heartbeat could not be recorded'))
      .finally(() => (isBeating = false));
  }, BEAT_MS);
}
