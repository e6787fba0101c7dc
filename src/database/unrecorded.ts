import type { EntityManager } from 'typeorm';
import { currentScope } from './request-scope';
import { ACTOR_SETTING } from './tenant-isolation';

/**
 * Executes statements of a transaction whose changes the audit log leaves out: the caller hasn't requested them as
 * such, or they are recorded elsewhere.
 */
export async function unrecorded<T>(manager: EntityManager, work: () => Promise<T>): Promise<T> {
  const actor = currentScope()?.actor;
  if (!actor) return work();
  await setActor(manager, '');
  const result = await work();
  // Not after a failure: the setting ends with the transaction, which executes no further statement then.
  await setActor(manager, actor);
  return result;
}

async function setActor(manager: EntityManager, actor: string): Promise<void> {
  await manager.query(`SELECT set_config('${ACTOR_SETTING}', $1, true)`, [actor]);
}
