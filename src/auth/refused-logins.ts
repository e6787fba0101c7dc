import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { acrossTenants } from '../database/request-scope';
import { ApiError } from '../http/api-error';

const WINDOW_MS = 60_000;
/** Records of one address in a window: enough to show an attack, too few for it to fill the log. */
const PER_ADDRESS = 10;
/** Records of all addresses in a window, on each replica. */
const PER_WINDOW = 1_000;

/** Refusals because of missing rather than wrong credentials. */
const WITHOUT_CREDENTIALS = new Set(['missing_api_key', 'missing_tenant']);

/** Writes requests with a wrong credential to the audit log: unknown, revoked and expired keys, wrong tenants, refused users. */
@Injectable()
export class RefusedLogins implements OnModuleDestroy {
  private readonly logger = new Logger('Audit');
  private readonly counts = new Map<string, number>();
  private total = 0;
  private windowEnds = 0;
  private readonly writing = new Set<Promise<void>>();

  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** @param address as the audit log keeps it; undefined where it keeps none */
  note(address: string | undefined, error: unknown): void {
    if (!(error instanceof ApiError) || WITHOUT_CREDENTIALS.has(error.code)) return;
    if (error.status !== 401 && error.status !== 403) return;
    if (!this.take(address ?? '')) return;
    // The answer doesn't wait for it.
    const write = this.write(address, error.code).finally(() => this.writing.delete(write));
    this.writing.add(write);
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.writing);
  }

  private take(address: string): boolean {
    if (Date.now() >= this.windowEnds) {
      this.counts.clear();
      this.total = 0;
      this.windowEnds = Date.now() + WINDOW_MS;
    }
    const count = this.counts.get(address) ?? 0;
    if (count >= PER_ADDRESS || this.total >= PER_WINDOW) return false;
    this.counts.set(address, count + 1);
    this.total += 1;
    return true;
  }

  private async write(address: string | undefined, reason: string): Promise<void> {
    try {
      await acrossTenants(() =>
        this.database.query(
          `INSERT INTO audit_log (actor_kind, address, action, resource, reason) VALUES ('unknown', $1, 'refuse', 'login', $2)`,
          [address ?? null, reason],
        ),
      );
    } catch (error) {
      this.logger.warn({ err: error, reason }, 'A refused login could not be written to the audit log');
    }
  }
}
