import { CancelledFailure, Context } from '@temporalio/activity';
import type {
  EndExportInput,
  ExportActivities,
  ExportWindow,
  PartitionReference,
  Turn,
} from '../../workflows/contracts/export.contract';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** State of exports for the activities, in memory: only the workflows are tested here. */
export class FakeExports implements ExportActivities {
  readonly days: string[] = [];
  readonly done = new Set<string>();
  readonly began: string[] = [];
  readonly ended: EndExportInput[] = [];
  readonly failed: string[] = [];
  readonly spawned: { window: ExportWindow; at: number }[] = [];
  turn: Turn | (() => Promise<Turn>) = { turn: 'taken', remainingMs: DAY };
  running = 0;
  mostRunning = 0;
  completed = 0;
  waiting: string[] = [];
  /** Number of windows after which the schedule ends. */
  schedule: { start: number; hours: number; windows: number } | undefined;

  constructor(
    private readonly now: () => Promise<number>,
    private readonly work: (partition: PartitionReference) => Promise<void> = async () => undefined,
  ) {}

  /** Activities as own properties, which a worker requires. */
  all(): ExportActivities {
    const names = Object.getOwnPropertyNames(FakeExports.prototype).filter(
      (name) => name !== 'constructor' && name !== 'all',
    );
    return Object.fromEntries(
      names.map((name) => [name, (this[name as keyof FakeExports] as (...args: unknown[]) => unknown).bind(this)]),
    ) as unknown as ExportActivities;
  }

  async takeTurn(): Promise<Turn> {
    return typeof this.turn === 'function' ? this.turn() : this.turn;
  }

  async planExport({ exportId, tenantId }: { exportId: string; tenantId: string }) {
    const open = this.days
      .filter((day) => !this.done.has(day) && !this.failed.includes(day))
      .slice(0, 5)
      .map((day) => ({ exportId, tenantId, exportRunId: day, day }));
    return { partitionsTotal: this.days.length, partitionsDone: this.done.size, rows: 0, bytes: 0, open };
  }

  async readProgress() {
    return null;
  }

  async exportPartition(partition: PartitionReference) {
    this.began.push(partition.day);
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    try {
      await this.work(partition);
    } finally {
      this.running -= 1;
    }
    this.done.add(partition.day);
    return { ending: 'Completed' as const, rows: 10, bytes: 100, files: 1 };
  }

  async failPartition({ day }: PartitionReference): Promise<void> {
    this.failed.push(day);
  }

  async completeExport() {
    this.completed += 1;
    return { isCompleted: true, waiting: this.waiting };
  }

  async endExport(input: EndExportInput) {
    this.ended.push(input);
    return { waiting: this.waiting };
  }

  async nextExportWindow() {
    const { start, hours, windows } = this.schedule!;
    if (this.spawned.length >= windows) return { next: 'over' as const };
    const from = start + this.spawned.length * hours * HOUR;
    const to = from + hours * HOUR;
    const inMs = Math.max(0, to + 600_000 - (await this.now()));
    const window = { start: new Date(from).toISOString(), end: new Date(to).toISOString() };
    return { next: 'due' as const, window, inMs };
  }

  async spawnExport({ window }: { window: ExportWindow }) {
    this.spawned.push({ window, at: await this.now() });
    return { exportId: `spawned-${Math.random()}` };
  }
}

/** An activity that hangs until it is cancelled. */
export async function hang(): Promise<void> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), 50);
  try {
    await context.cancelled;
  } catch (error) {
    if (error instanceof CancelledFailure) throw error;
  } finally {
    clearInterval(timer);
  }
}
