import { Injectable, Logger, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { Notifications } from '../database/notifications';
import { ApiKeysService } from './api-keys.service';
import { onAuthChange } from './auth-changes';

/** Interval for checking open streams without a notification, since an expiry has none, and one may be lost. */
const LOOK_MS = 5_000;

/** Ends the streams of this replica whose API key or access token is no longer valid. */
@Injectable()
export class StreamAccess implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(StreamAccess.name);
  private unsubscribe: (() => void) | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly apiKeys: ApiKeysService,
    private readonly notifications: Notifications,
    private readonly host: HttpAdapterHost<FastifyAdapter>,
  ) {}

  async onModuleInit(): Promise<void> {
    this.unsubscribe = await onAuthChange(this.notifications, () => void this.look());
    this.timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  onModuleDestroy(): void {
    this.unsubscribe?.();
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    const { openStreams } = this.host.httpAdapter.getInstance();
    const expired = openStreams.breakOffExpired(Date.now());
    if (expired > 0) this.logger.log(`Broke off ${expired} streams whose access token has expired`);
    const keyIds = openStreams.keyIds();
    if (keyIds.length === 0) return;
    try {
      const count = openStreams.breakOffOf(await this.apiKeys.useless(keyIds));
      if (count > 0) this.logger.log(`Broke off ${count} streams whose API key was revoked or has expired`);
    } catch (error) {
      this.logger.warn({ err: error }, 'The API keys of open streams could not be checked; it is retried');
    }
  }
}
