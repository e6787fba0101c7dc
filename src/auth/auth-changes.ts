import type { EntityManager } from 'typeorm';
import type { Notifications } from '../database/notifications';

/** Reports every change to keys and tenants, so that caches of replicas are outdated only for a moment. */
const CHANNEL = 'gantry_auth';

/** Part of the transaction that changes keys or tenants. */
export async function announceAuthChange(manager: EntityManager): Promise<void> {
  await manager.query(`SELECT pg_notify('${CHANNEL}', '')`);
}

export async function onAuthChange(notifications: Notifications, listener: () => void): Promise<() => void> {
  return notifications.subscribe(CHANNEL, listener);
}
