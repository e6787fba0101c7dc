import type { FastifyReply, FastifyRequest } from 'fastify';
import { Logger } from '@nestjs/common';
import { ApiError } from '../../http/api-error';
import { toApiError } from '../../http/error.filter';
import { stringifyExactly } from '../../http/exact-json';
import { sendEvents } from '../../http/streaming';
import { traceErrors } from '../trace.errors';

/** Items read at a time for a stream, so few that the first ones arrive soon. */
const BATCH = 50;
const JSON_TYPE = 'application/json; charset=utf-8';

export interface ItemPage {
  items: unknown[];
  next: string | null;
}

/** Start of a page, and its maximum of items. */
export interface PagePosition {
  page_size: number;
  cursor?: string;
}

/** The two forms of the answer, for the description of the API. */
export const PAGE_OR_STREAM = {
  description: 'A page; for `Accept: text/event-stream` JSON Patch operations that build it',
  content: {
    'application/json': {
      schema: {
        type: 'object' as const,
        required: ['items', 'has_more', 'next_cursor'],
        properties: {
          items: { type: 'array' as const, items: { type: 'object' as const } },
          has_more: { type: 'boolean' as const },
          next_cursor: { oneOf: [{ type: 'string' as const }, { type: 'null' as const }] },
        },
      },
    },
    'text/event-stream': { schema: { type: 'string' as const } },
  },
};

interface Patch {
  op: 'add' | 'replace';
  path: string;
  value: unknown;
}

const logger = new Logger('TraceQueries');

/**
 * Answers a query of the second version: one JSON document or, for `Accept: text/event-stream`, JSON Patch operations that
 * build the same document while it is read.
 * @param read reads a page
 */
export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  query: PagePosition & { ai_search?: string | undefined; sem_filter?: string | undefined },
  read: (page: PagePosition) => Promise<ItemPage>,
): Promise<void> {
  for (const field of ['ai_search', 'sem_filter'] as const) {
    if (query[field] !== undefined) throw traceErrors.unsupported(field, 'there is no semantic search here');
  }
  const isStream = request.headers.accept?.includes('text/event-stream') ?? false;
  // Read before the answer begins, so that an error in the query is an ordinary error.
  const first = await read({
    page_size: isStream ? Math.min(BATCH, query.page_size) : query.page_size,
    ...(query.cursor !== undefined && { cursor: query.cursor }),
  });
  if (!isStream) {
    const page = { items: first.items, has_more: first.next !== null, next_cursor: first.next };
    return void reply.type(JSON_TYPE).serializer(stringifyExactly).send(page);
  }
  await sendEvents(reply, () => patches(first, request, query.page_size, read));
}

async function* patches(
  first: ItemPage,
  request: FastifyRequest,
  size: number,
  read: (page: PagePosition) => Promise<ItemPage>,
): AsyncGenerator<string> {
  yield frame([{ op: 'add', path: '', value: { items: [], next_cursor: null } }]);
  let sent = 0;
  let page = first;
  for (;;) {
    if (page.items.length > 0) yield frame(page.items.map((value) => ({ op: 'add', path: '/items/-', value })));
    sent += page.items.length;
    if (page.next === null || sent >= size) break;
    try {
      page = await read({ page_size: Math.min(BATCH, size - sent), cursor: page.next });
    } catch (error) {
      const known = toApiError(error, request);
      if (!known) logger.error({ err: error, request_id: request.id }, 'Unexpected error in a streamed query');
      yield `event: error\n${frame((known ?? new ApiError(500, 'internal', 'Internal Server Error')).body())}`;
      return;
    }
  }
  yield frame([{ op: 'replace', path: '/next_cursor', value: page.next }]);
}

function frame(data: Patch[] | ReturnType<ApiError['body']>): string {
  return `data: ${stringifyExactly(data)}\n\n`;
}
