import { createHmac } from 'node:crypto';

/** A record as its link covers it; times have microseconds and are in UTC. */
export interface SealedContent {
  auditId: string;
  at: string;
  tenantId: string | null;
  actorKind: string;
  actorId: string | null;
  address: string | null;
  action: string;
  resource: string;
  resourceId: string | null;
  item: string[] | null;
  changed: string[] | null;
  reason: string | null;
}

/** A place in the chain: the record that has it, and the hash over this record and everything before it. */
export interface Link {
  position: number;
  auditId: string;
  sealedAt: string;
  hash: Buffer;
}

/** Predecessor of the first link. */
export const GENESIS: Pick<Link, 'position' | 'hash'> = { position: 0, hash: Buffer.alloc(32) };

/**
 * The hash of a link. It is keyed: who can write to the database alone, its administrator included, can't make a chain
 * that fits to a changed log.
 */
export function hashOf(
  key: Buffer,
  previous: Buffer,
  { position, sealedAt }: Pick<Link, 'position' | 'sealedAt'>,
  content: SealedContent,
): Buffer {
  const { auditId, at, tenantId, actorKind, actorId, address, action, resource, resourceId, item, changed, reason } =
    content;
  // The order must never change. A column that is added later goes to the end, and only if it isn't null.
  const covered = [
    previous.toString('hex'),
    position,
    sealedAt,
    ...[auditId, at, tenantId, actorKind, actorId, address, action, resource, resourceId, item, changed, reason],
  ];
  return createHmac('sha256', key).update(JSON.stringify(covered)).digest();
}
