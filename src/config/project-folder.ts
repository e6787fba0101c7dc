import { dirname } from 'node:path';
import type { AppConfig } from './config';

/**
 * Makes the folder of langgraph.json the working directory of the process, as it is where the graphs come from: user code opens
 * files by paths from there. Threads can't change theirs, so that the process has to.
 */
export function enterProjectFolder({ graphs: { configPath }, hasLanggraphJson }: AppConfig): void {
  // That langgraph.json is missing is the graphs' complaint.
  if (hasLanggraphJson) process.chdir(dirname(configPath));
}
