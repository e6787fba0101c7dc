import { setTimeout as sleep } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { AppConfig } from '../config/config';
import { Drain } from './drain';

/**
 * Stops an api without a request noticing, where that can be done:
 *
 * 1. It is no longer ready. For GANTRY_DRAIN_DELAY_SECONDS it serves as before, while load balancers learn that; each
 *    answer closes its connection, so that the next request opens one to another replica.
 * 2. It accepts no more connections. Event streams are aborted: their clients reconnect, to another replica, with the last id
 * that they saw. 3. Requests under way and calls that wait for a run have GANTRY_DRAIN_TIMEOUT_SECONDS to end. 4. The rest is
 * aborted. Runs are not affected.
 */
export async function stopGracefully(app: NestFastifyApplication, config: AppConfig, logger: Logger): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  const { connections, openStreams } = fastify;
  app.get(Drain).begin();
  logger.info({ delay_ms: config.http.drainDelayMs }, 'Stopping: not ready any more');
  await sleep(config.http.drainDelayMs);
  const closed = connections.close();
  openStreams.breakOff('events');
  connections.closeIdle();
  const timeout = new AbortController();
  const isLate = sleep(config.http.drainTimeoutMs, 'late' as const, { signal: timeout.signal }).catch(
    () => 'stopped' as const,
  );
  // A connection whose last request has just been answered is idle, and its client may keep it open.
  const sweep = setInterval(() => connections.closeIdle(), 50);
  const outcome = await Promise.race([closed, isLate]);
  clearInterval(sweep);
  timeout.abort();
  if (outcome === 'late') logger.info('Stopping: requests that are still in flight are aborted');
  openStreams.breakOff('wait');
  await app.close();
}
