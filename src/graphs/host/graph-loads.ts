import { Logger } from '@nestjs/common';
import type { LoadedGraphs } from './protocol';

/** Processes in a row that may fail to load a graph that is served, before one is used without the graph. */
export const MAX_LOADS = 4;
/** Loading takes seconds; longer than this, it is worth a line in the log, and work waits for another process. */
export const LONG_LOAD_MS = 30_000;
export const LONG_LOAD = `A graph process has been loading for ${LONG_LOAD_MS / 1000} s: a graph's module, or one that it imports, may wait for something at its top level`;
const FIRST_PAUSE_MS = 1_000;
/** A graph that is broken for good costs the start of a process this often. */
const MAX_PAUSE_MS = 60_000;

/** Time until the next process is started, in milliseconds, after so many in a row that failed to load a graph. */
export function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
}

/**
 * Findings of processes when they loaded the graphs. A graph that an earlier process serves can fail to load in a later one: its
 * module may need something at its top level that is unavailable for a moment.
 */
export class GraphLoads<Process extends object> {
  private readonly logger = new Logger(GraphLoads.name);
  private readonly findings = new WeakMap<Process, LoadedGraphs>();
  /** Processes in a row that failed to load a graph that is served. */
  private failures = 0;
  private pausesUntil = 0;
  /** Findings of the last process that has loaded every graph that is served; undefined before the first one has. */
  complete: LoadedGraphs | undefined;

  /** @returns whether the process has every graph that is served */
  record(process: Process, findings: LoadedGraphs): boolean {
    this.findings.set(process, findings);
    const lost = this.lostIn(findings);
    if (lost.length === 0) {
      this.failures = 0;
      this.pausesUntil = 0;
      this.complete = findings;
      return true;
    }
    this.failures += 1;
    this.pausesUntil = performance.now() + pauseAfter(this.failures);
    for (const graphId of lost) {
      const problem = findings.problems[graphId];
      this.logger.error(`A graph that is served fails to load in a new process: graphs.${graphId}: ${problem}`);
    }
    return false;
  }

  /** Ids of the graphs that are served, and that a process with these findings lacks. */
  lostIn({ problems }: LoadedGraphs): string[] {
    const served = this.complete;
    return served ? Object.keys(problems).filter((graphId) => !(graphId in served.problems)) : [];
  }

  isIncomplete(process: Process): boolean {
    return this.lostIn(this.findings.get(process)!).length > 0;
  }

  /** Whether the process has failed to load the graph, which another one serves. */
  lacks(process: Process, graphId: string): boolean {
    return this.lostIn(this.findings.get(process)!).includes(graphId);
  }

  /** Whether the last process failed to load a graph that is served. */
  get isFailing(): boolean {
    return this.failures > 0;
  }

  /** Whether so many have failed that the next one is unlikely to be better. */
  get isFailingForLong(): boolean {
    return this.failures >= MAX_LOADS;
  }

  /** Whether no process should be started yet. */
  get isPausing(): boolean {
    return performance.now() < this.pausesUntil;
  }
}
