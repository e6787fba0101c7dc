import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Sweep } from './sweep';

/** The number is arbitrary, but must be the same in every worker. */
const SWEEP_LOCK = 4_201_977;

interface Lock {
  locked: boolean;
}

/** Runs the sweeps every few seconds, in one worker of the deployment at a time. */
export class Sweeper {
  private readonly logger = new Logger(Sweeper.name);
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly database: DataSource,
    private readonly sweeps: Sweep[],
    private readonly intervalMs: number,
  ) {}

  start(): void {
    this.timer = setTimeout(() => {
      this.running = this.round().finally(() => {
        if (!this.stopped) this.start();
      });
    }, this.intervalMs);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private async round(): Promise<void> {
    const session = this.database.createQueryRunner();
    try {
      // The lock is the session's: a worker that dies gives it up with its connection.
      const rows = (await session.query('SELECT pg_try_advisory_lock($1) AS locked', [SWEEP_LOCK])) as Lock[];
      if (!rows[0].locked) return;
      try {
        for (const sweep of this.sweeps) await this.attemptSweep(sweep);
      } finally {
        await session.query('SELECT pg_advisory_unlock($1)', [SWEEP_LOCK]);
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'Sweep skipped: the database does not answer');
    } finally {
      await session.release();
    }
  }

  /** The failure of one sweep must not stop the others. */
  private async attemptSweep(sweep: Sweep): Promise<void> {
    try {
      await sweep.sweep();
    } catch (error) {
      this.logger.warn({ err: error, sweep: sweep.name }, 'Sweep failed; it is tried again in a few seconds');
    }
  }
}
