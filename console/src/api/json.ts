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

/** One page of a list, and the number of all that match. */
export interface Page<Item> {
  items: Item[];
  total: number;
}

async function pageOf<Item>(response: Response): Promise<Page<Item>> {
  const items = (await response.json()) as Item[];
  return { items, total: Number(response.headers.get('x-pagination-total') ?? items.length) };
}

export const getPage = async <Item>(path: string, query: Query): Promise<Page<Item>> =>
  pageOf(await request(withQuery(path, query)));

/** A page of a list that is searched with a body. */
export const searchPage = async <Item>(path: string, body: object): Promise<Page<Item>> =>
  pageOf(await request(path, jsonBody('POST', body)));

/** Number of items of a list that match. */
export const countOf = async (path: string, query: Query = {}): Promise<number> =>
  (await getPage(path, { ...query, limit: 1 })).total;

const jsonBody = (method: string, body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method,
  headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
  body: body === undefined ? undefined : JSON.stringify(body),
});

/** Sends a body as JSON; undefined where the answer has none. */
export async function sendJson<Answer>(
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await request(path, jsonBody(method, body, headers));
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as Answer;
}
