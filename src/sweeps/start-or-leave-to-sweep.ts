import { Logger } from '@nestjs/common';

const logger = new Logger('Start');

/**
 * Starts work whose row is committed, or informs its workflow. Never rejects: a sweep repeats within seconds what fails here.
 * @param what the work, for the log
 * @param ids which work, for the log
 */
export async function startOrLeaveToSweep(
  what: string,
  ids: Record<string, string | null>,
  start: () => Promise<unknown>,
): Promise<void> {
  try {
    await start();
  } catch (error) {
    logger.warn({ err: error, ...ids }, `${what} not started yet: the sweep will do it`);
  }
}
