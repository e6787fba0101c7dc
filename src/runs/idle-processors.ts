import { type CpuInfo, cpus } from 'node:os';

interface Times {
  idle: number;
  all: number;
}

/** How idle this machine's processors are. In a container, those of the whole machine count. */
export class IdleProcessors {
  private last: Times;

  /** @param read the processors with the times that each has spent so far */
  constructor(private readonly read: () => Pick<CpuInfo, 'times'>[] = cpus) {
    this.last = this.times();
  }

  /** Share of the time since the last call for which they were idle: from 0 to 1. Times are counted in steps of ten milliseconds. */
  shareSinceLast(): number {
    const now = this.times();
    const { idle, all } = this.last;
    this.last = now;
    return now.all > all ? (now.idle - idle) / (now.all - all) : 0;
  }

  private times(): Times {
    const each = this.read().map(({ times }) => times);
    const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
    return { idle: sum(each.map(({ idle }) => idle)), all: sum(each.flatMap((times) => Object.values(times))) };
  }
}
