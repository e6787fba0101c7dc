import type { Logger } from '@nestjs/common';

/** Levels of a process's log in which user code writes. */
const WRITTEN_LEVELS = ['error', 'warn', 'log', 'debug', 'verbose'] as const;

export type WrittenLevel = (typeof WRITTEN_LEVELS)[number];

/** A log line of user code, as sent to the process that writes it. */
export interface UserLogLine {
  type: 'log';
  level: WrittenLevel;
  message: string;
  fields: Record<string, unknown>;
}

/** Writes a line into the log of the process, as one of user code. */
export function writeUserLog(logger: Logger, { level, message, fields }: UserLogLine): void {
  // User code may forge messages on the channel of its process.
  logger[WRITTEN_LEVELS.includes(level) ? level : 'log'](fields, message);
}
