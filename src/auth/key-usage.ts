import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { acrossTenants } from '../database/request-scope';

/** Interval of writes, each for all keys that were used. */
const FLUSH_MS = 60_000;

/** When keys were last used: collected here, and written once a minute and at the end of the process. */
@Injectable()
export class KeyUsage implements OnModuleDestroy {
  private readonly logger = new Logger(KeyUsage.name);
  private readonly used = new Map<string, Date>();
  private timer: NodeJS.Timeout | undefined;

  constructor(@InjectDataSource() private readonly database: DataSource) {}

  async onModuleDestroy(): Promise<void> {
    clearTimeout(this.timer);
    await this.flush();
  }

  touch(apiKeyId: string): void {
    this.used.set(apiKeyId, new Date());
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Writes the collected times. If that fails, it is logged, and they are kept for the next write. */
  async flush(): Promise<void> {
    this.timer = undefined;
    const uses = [...this.used];
    if (uses.length === 0) return;
    this.used.clear();
    try {
      // A timer has the context of the request that set it: this belongs to none.
      await acrossTenants(() =>
        this.database.query(
          `UPDATE api_keys SET last_used_at = used.at FROM unnest($1::uuid[], $2::timestamptz[]) AS used (id, at)
           WHERE api_key_id = used.id AND (last_used_at IS NULL OR last_used_at < used.at)`,
          [uses.map(([id]) => id), uses.map(([, at]) => at)],
        ),
      );
    } catch (error) {
      this.logger.warn({ err: error }, 'Last uses of API keys could not be recorded yet');
      for (const [id, at] of uses) if (!this.used.has(id)) this.used.set(id, at);
    }
  }
}
