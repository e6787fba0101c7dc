import { readFileSync } from 'node:fs';

/** Whether a process runs: one that has ended stays in the table until its parent reads its status. */
export const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};
