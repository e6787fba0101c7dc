import type { FastifyReply } from 'fastify';
import { z } from 'zod';

/** `limit` and `offset` of the search bodies. */
export const pageSchema = {
  limit: z.number().int().min(1).max(1000).default(10),
  offset: z.number().int().min(0).default(0),
};

export interface Page<T> {
  items: T[];
  /** Number of all matches, not only those on this page. */
  total: number;
}

/** `X-Pagination-Total` is the true total; `X-Pagination-Next` is the next offset, only when there is a next page. */
export function paginate<T>(reply: FastifyReply, page: Page<T>, offset: number): T[] {
  void reply.header('X-Pagination-Total', String(page.total));
  const next = offset + page.items.length;
  if (page.items.length > 0 && next < page.total) void reply.header('X-Pagination-Next', String(next));
  return page.items;
}

/** Only the fields that were asked for. */
export function project<T extends object>(items: T[], select: string[] | undefined): Partial<T>[] {
  if (!select) return items;
  return items.map(
    (item) => Object.fromEntries(Object.entries(item).filter(([key]) => select.includes(key))) as Partial<T>,
  );
}
