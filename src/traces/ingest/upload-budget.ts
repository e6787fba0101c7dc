import type { IncomingMessage, ServerResponse } from 'node:http';
import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { finalize, Observable } from 'rxjs';
import { AppConfig } from '../../config/config';
import { traceErrors } from '../trace.errors';

/** Limit of the bytes of all uploads that an api holds, which take several times as much memory while they are stored. */
const LIMIT_BYTES = 256 * 1024 * 1024;
/**
 * Tenants whose uploads fit at once, each with one of the largest size, whatever that size is. Bytes count from their
 * arrival: slow clients of one tenant could hold all of them for minutes.
 */
const TENANTS = 2;
/** Bytes of each upload that are never refused: thousands of connections with no more take little memory. */
const SMALL_BYTES = 100 * 1024;

/** Counts the decoded bytes of the uploads that the process holds, so that many at once are refused and don't end it. */
@Injectable()
export class UploadBudget {
  private readonly limitBytes: number;
  private readonly held = new WeakMap<IncomingMessage, HeldBytes>();
  private readonly heldByTenant = new Map<string, number>();
  private heldBytes = 0;

  constructor(config: AppConfig) {
    this.limitBytes = Math.max(LIMIT_BYTES, TENANTS * config.traces.uploadLimitBytes);
  }

  /** Begins to count the bytes of a request. */
  open(request: IncomingMessage, response: ServerResponse, tenantId = ''): HeldBytes {
    const held = new HeldBytes(this, tenantId);
    this.held.set(request, held);
    response.once('close', () => held.abandon());
    return held;
  }

  /** The bytes of a request, if it is an upload. */
  of(request: IncomingMessage): HeldBytes | undefined {
    return this.held.get(request);
  }

  /**
   * @param isSmall the upload has had few bytes until now
   * @throws {ApiError} 503 when the process holds too many, in all or of the tenant, unless the upload is small
   */
  take(tenantId: string, bytes: number, isSmall = false): void {
    const total = this.heldBytes + bytes;
    const ofTenant = (this.heldByTenant.get(tenantId) ?? 0) + bytes;
    const isTooMany = total > this.limitBytes || ofTenant > this.limitBytes / TENANTS;
    if (isTooMany && !isSmall) throw traceErrors.storeBusy();
    this.heldBytes = total;
    this.heldByTenant.set(tenantId, ofTenant);
  }

  release(tenantId: string, bytes: number): void {
    this.heldBytes -= bytes;
    const ofTenant = (this.heldByTenant.get(tenantId) ?? 0) - bytes;
    if (ofTenant > 0) this.heldByTenant.set(tenantId, ofTenant);
    else this.heldByTenant.delete(tenantId);
  }
}

/** The bytes of one request, from their arrival until the upload is stored or refused. */
export class HeldBytes {
  private bytes = 0;
  private isHandled = false;
  private isReleased = false;

  constructor(
    private readonly budget: UploadBudget,
    private readonly tenantId: string,
  ) {}

  /** @throws {ApiError} 503 */
  take(bytes: number): void {
    // What arrives after a refusal is dropped.
    if (this.isReleased) return;
    this.budget.take(this.tenantId, bytes, this.bytes + bytes <= SMALL_BYTES);
    this.bytes += bytes;
  }

  /** The route has begun, and releases the bytes when it ends: its client may have disconnected long before. */
  handle(): void {
    this.isHandled = true;
  }

  /** The connection has closed, perhaps before the route began. */
  abandon(): void {
    if (!this.isHandled) this.release();
  }

  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.budget.release(this.tenantId, this.bytes);
  }
}

/** Releases the bytes of an upload when its route has ended. */
@Injectable()
export class HoldUpload implements NestInterceptor {
  constructor(private readonly budget: UploadBudget) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const held = this.budget.of(context.switchToHttp().getRequest<FastifyRequest>().raw);
    held?.handle();
    return next.handle().pipe(finalize(() => held?.release()));
  }
}
