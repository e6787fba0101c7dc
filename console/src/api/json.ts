import { request } from './client';

type Query = Record<string, string | number | boolean | undefined>;

function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

/** Reads a route whose answer the OpenAPI document leaves open, such as those of LangSmith's trace API. */
export async function getJson<Answer>(path: string, query: Query = {}): Promise<Answer> {
  const response = await request(withQuery(path, query));
  return (await response.json()) as Answer;
}

/** One page of a list, with the number of all that match from `X-Pagination-Total`. */
export async function getPage<Item>(path: string, query: Query): Promise<{ items: Item[]; total: number }> {
  const response = await request(withQuery(path, query));
  const items = (await response.json()) as Item[];
  return { items, total: Number(response.headers.get('x-pagination-total') ?? items.length) };
}

/** Sends a body as JSON; undefined where the answer has none. */
export async function sendJson<Answer>(
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await request(path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as Answer;
}
