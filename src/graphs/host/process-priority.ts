import type { ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Logger } from '@nestjs/common';

/** Niceness under which a process gets a third of the processor time of one with the usual 0. */
const LOWER_PRIORITY = 5;

/** Lets other processes of this machine go first where all processors are busy. */
export function lowerPriority({ pid, exitCode, signalCode }: ChildProcess, logger: Logger): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    setPriority(pid, LOWER_PRIORITY);
  } catch (error) {
    logger.warn({ err: error, pid }, 'The priority of a graph process could not be lowered');
  }
}
