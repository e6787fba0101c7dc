import { Agent, request } from 'node:http';
import pLimit from 'p-limit';
import { v7 as uuidv7 } from 'uuid';
import { readUpload } from '../../src/traces/ingest/upload';
import { instantOf } from '../../src/traces/instant';
import { amount } from '../support/amount';
import { type Gantry, startGantry } from '../support/gantry';
import {
  DEEP_BODIES,
  type HostileBody,
  HOSTILE_NUMBERS,
  HOSTILE_PARAMETERS,
  HOSTILE_STRINGS,
  HOSTILE_VALUES,
  ODD_BODIES,
} from '../support/hostile-bodies';
import { describedOperations, type Operation, sampleOf, type Schema } from '../support/operations';

const KEY = 'key-of-the-default-tenant-0123456789';
const ADMIN_KEY = 'key-of-the-operator-0123456789';
/** GANTRY_TENANT_ID, unless it is set. */
const TENANT = '00000000-0000-0000-0000-000000000000';
const AT_ONCE = 8;
/** A body of more bytes than this takes time to read, as do those that are compressed. */
const LARGE_BYTES = 10_000;
/** One in so many operations gets each large body: another one with each seed, and all of them in the full amount. */
const LARGE_SHARE = amount(4, 1);
/** These wait for a run, which no worker executes here; runs are made by the same code without waiting, too. */
const WAITING = /\/(?:wait|join)$|^\/(?:a2a|mcp)/;

interface Answer {
  status: number;
  text: string;
}

/** Whether an answer is an error without the `code` of docs/errors.md. Some errors are plain text; A2A and MCP have codes of their own. */
function hasNoCode(status: number, text: string): boolean {
  if (status < 400 || !text.startsWith('{')) return false;
  const body = JSON.parse(text) as { code?: unknown; error?: { code?: unknown } };
  return typeof body.code !== 'string' && typeof body.error?.code !== 'number';
}

describe('hostile input', () => {
  let gantry: Gantry;
  let operations: Operation[];
  let given: Record<string, string>;
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

  beforeAll(async () => {
    gantry = await startGantry({
      graphProcesses: 1,
      workers: 0,
      env: { GANTRY_AUTH: 'on', GANTRY_API_KEY: KEY, GANTRY_ADMIN_KEY: ADMIN_KEY },
    });
    operations = await describedOperations(gantry.url, { 'x-api-key': KEY });
    given = { assistant_id: 'three', graph_id: 'three', thread_id: '', run_id: '' };
    const { thread_id } = JSON.parse((await post('/threads', '{}')).text) as { thread_id: string };
    const run = JSON.stringify({ assistant_id: 'three', after_seconds: 3600 });
    const { run_id } = JSON.parse((await post(`/threads/${thread_id}/runs`, run)).text) as { run_id: string };
    Object.assign(given, { thread_id, run_id });
  });

  afterAll(async () => {
    agent.destroy();
    await gantry?.stop();
  });

  /** Resolves at the end of the answer, or at its head where that is a stream. */
  function ask(method: string, path: string, content?: Buffer | string, headers: Record<string, string> = {}) {
    return new Promise<Answer>((resolve, reject) => {
      const sent = request(gantry.url + path, {
        method,
        agent,
        headers: {
          'x-api-key': path.startsWith('/admin') ? ADMIN_KEY : KEY,
          'x-tenant-id': TENANT,
          'content-type': 'application/json',
          ...(content !== undefined && { 'content-length': Buffer.byteLength(content) }),
          ...headers,
        },
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        const status = response.statusCode!;
        if (response.headers['content-type']?.includes('event-stream')) {
          resolve({ status, text: '' });
          return sent.destroy();
        }
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status, text })).on('error', reject);
      });
      sent.end(content);
    });
  }
  const post = (path: string, content: string): Promise<Answer> => ask('POST', path, content);
  const send = ({ content, headers }: HostileBody, { method, path }: Operation): Promise<Answer> =>
    ask(method, addressOf(path, method === 'DELETE'), content, headers);

  /** Deletions name resources that don't exist. */
  function addressOf(path: string, isFatal: boolean): string {
    return path.replace(/\{(\w+)\}/g, (_, name: string) => (isFatal ? undefined : given[name]) ?? uuidv7());
  }

  /** The bodies that an operation gets: all small ones, and its share of the large ones. */
  const bodiesFor = (bodies: HostileBody[], place: number): HostileBody[] =>
    bodies.filter(({ content, headers }, index) => {
      const isLarge = content.length > LARGE_BYTES || headers !== undefined;
      return !isLarge || (index + place + jest.getSeed()) % LARGE_SHARE === 0;
    });

  const takesBody = ({ method }: Operation): boolean => method !== 'GET';
  const isAlive = async (): Promise<void> => {
    expect((await ask('GET', '/ok')).status).toBe(200);
    expect((await ask('GET', `/threads/${given.thread_id}`)).status).toBe(200);
  };

  /** The upload of a trace that a server with other uploads in hand asks to repeat, as a busy machine may have. */
  const isAskedToRepeat = (status: number, text: string): boolean =>
    status === 503 && text.includes('"trace_store_busy"');

  /** Describes each answer of 500 and more, and each error in JSON without a code; sends everything, a few at once. */
  async function failures(cases: { name: string; answer: () => Promise<Answer> }[]): Promise<string[]> {
    const limit = pLimit(AT_ONCE);
    const outcomes = await Promise.all(
      cases.map(({ name, answer }) =>
        limit(async () => {
          const { status, text } = await answer();
          const isFailure = (status >= 500 && !isAskedToRepeat(status, text)) || hasNoCode(status, text);
          return isFailure ? `${name}: ${status} ${text.slice(0, 200)}` : [];
        }),
      ),
    );
    return outcomes.flat();
  }

  it('is sent to many operations', () => {
    expect(operations.length).toBeGreaterThan(100);
    expect(operations.filter(({ body }) => body).length).toBeGreaterThan(50);
  });

  it('is refused with 422 where it is nested too deeply, by every operation that reads JSON', async () => {
    const wrong: string[] = [];
    const limit = pLimit(AT_ONCE);
    await Promise.all(
      operations.filter(takesBody).flatMap((operation, place) =>
        bodiesFor(DEEP_BODIES, place).map((body) =>
          limit(async () => {
            const { status, text } = await send(body, operation);
            const isNamed = status === 422 && text.includes('200 levels deep');
            // Operations that take only multipart, and those whose resource never exists.
            const isOther = status === 405 || (status === 422 && operation.path.endsWith('/multipart'));
            if (!isNamed && !isOther)
              wrong.push(`${operation.method} ${operation.path}, ${body.name}: ${status} ${text}`);
          }),
        ),
      ),
    );
    expect(wrong).toEqual([]);
    await isAlive();
  }, 300_000);

  it('does no harm as a body, whatever it is', async () => {
    const cases = operations.filter(takesBody).flatMap((operation, place) =>
      bodiesFor(ODD_BODIES, place).map((body) => ({
        name: `${operation.method} ${operation.path}, ${body.name}`,
        answer: () => send(body, operation),
      })),
    );
    expect(await failures(cases)).toEqual([]);
    await isAlive();
  }, 300_000);

  it('does no harm in a field, whatever it is', async () => {
    const cases = operations
      .filter(({ path, body }) => body?.properties && !WAITING.test(path))
      .flatMap((operation) => variantsOf(operation.body!).map((body) => ({ operation, body })))
      .map(({ operation, body }) => ({
        name: `${operation.method} ${operation.path}, ${body.slice(0, 300)}`,
        answer: () => ask(operation.method, addressOf(operation.path, operation.method === 'DELETE'), body),
      }));
    expect(cases.length).toBeGreaterThan(1_000);
    expect(await failures(cases)).toEqual([]);
    await isAlive();
  }, 600_000);

  /** The least body that an operation takes, with each hostile value in all fields of its type at once. */
  function variantsOf(schema: Schema): string[] {
    const least = sampleOf(schema, given) as Record<string, unknown>;
    const fields = Object.entries(schema.properties ?? {});
    const of = (kind: FieldKind): string[] =>
      fields.filter(([, field]) => kindOf(field) === kind).map(([name]) => name);
    const variants = (names: string[], literals: string[]): string[] =>
      names.length === 0 ? [] : literals.map((literal) => written(least, names, literal));
    const each = of('string').flatMap((name) => variants([name], HOSTILE_STRINGS.slice(0, amount(1, 3))));
    return [
      ...each,
      ...variants(of('string'), HOSTILE_STRINGS),
      ...variants(of('number'), HOSTILE_NUMBERS),
      ...variants(of('value'), HOSTILE_VALUES),
    ];
  }

  it('does no harm as a list of very many values that are valid', async () => {
    const cases = operations
      .filter(({ path, body }) => body && !WAITING.test(path))
      .flatMap((operation) => longListsOf(operation.body!).map((list) => ({ operation, ...list })))
      .map(({ operation, field, body }) => ({
        name: `${operation.method} ${operation.path}, many ${field}`,
        answer: () => ask(operation.method, addressOf(operation.path, operation.method === 'DELETE'), body),
      }));
    expect(cases.length).toBeGreaterThan(20);
    expect(await failures(cases)).toEqual([]);
    await isAlive();
  }, 300_000);

  /** The least body that an operation takes, with more values in each of its lists than a statement has parameters. */
  function longListsOf(schema: Schema): { field: string; body: string }[] {
    const least = sampleOf(schema, given) as Record<string, unknown>;
    return Object.entries(schema.properties ?? {}).flatMap(([field, property]) => {
      const items = itemsOf(property);
      if (!items) return [];
      const isId = items.format === 'uuid' || /^[^$]*-[^$]*$/.test(items.pattern ?? '');
      const one = JSON.stringify(sampleOf(items, given));
      // A longer body is refused for its length.
      const length = Math.min(70_000, Math.floor(5_000_000 / one.length));
      const list = Array.from({ length }, () => (isId ? JSON.stringify(uuidv7()) : one));
      return { field, body: written(least, [field], `[${list.join()}]`) };
    });
  }

  it('does no harm in the parameters of an address, whatever they are', async () => {
    let turn = 0;
    // Each parameter gets a few of them, all parameters together get each of them often.
    const someParameters = (): string[] =>
      Array.from(
        { length: amount(4, HOSTILE_PARAMETERS.length) },
        () => HOSTILE_PARAMETERS[turn++ % HOSTILE_PARAMETERS.length],
      );
    const cases = operations
      .filter(({ path }) => !WAITING.test(path))
      .flatMap(({ method, path, query }) => {
        const address = addressOf(path, true);
        const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        const inPath = names.flatMap((name) => someParameters().map((value) => path.replace(`{${name}}`, value)));
        const inQuery = query.flatMap((name) => someParameters().map((value) => `${address}?${name}=${value}`));
        return [...inPath.map((each) => addressOf(each, method === 'DELETE')), ...inQuery].map((each) => ({
          name: `${method} ${each.slice(0, 300)}`,
          answer: () => ask(method, each, method === 'GET' ? undefined : '{}'),
        }));
      });
    expect(cases.length).toBeGreaterThan(1_000);
    expect(await failures(cases)).toEqual([]);
    await isAlive();
  }, 300_000);

  /** Time that a small request of another client takes, in milliseconds. */
  async function answerTime(): Promise<number> {
    const asked = performance.now();
    const response = await fetch(`${gantry.url}/threads/${given.thread_id}`, { headers: { 'x-api-key': KEY } });
    expect(response.status).toBe(200);
    return performance.now() - asked;
  }

  const median = (times: number[]): number => times.toSorted((one, other) => one - other)[times.length >> 1];

  it('does not delay answers to other clients', async () => {
    const before: number[] = [];
    for (let count = 0; count < 20; count += 1) before.push(await answerTime());
    const heavy = [...DEEP_BODIES, ...ODD_BODIES].filter(({ content }) => content.length > LARGE_BYTES);
    let pending = heavy.length * 2;
    const trace: Operation = { method: 'POST', path: '/api/v1/runs/batch', body: undefined, query: [] };
    const state: Operation = { method: 'POST', path: '/threads/search', body: undefined, query: [] };
    const sent = heavy.flatMap((body) =>
      [trace, state].map((operation) => send(body, operation).finally(() => (pending -= 1))),
    );
    const times: number[] = [];
    // Another agent's connections: those of this one are all in use.
    while (pending > 0) times.push(await answerTime());
    for (const { status } of await Promise.all(sent)) expect(status).toBeLessThan(500);
    expect(times.length).toBeGreaterThan(3);
    // The usual one: on a busy machine, single ones wait for the processor.
    expect(median(times)).toBeLessThan(Math.max(100, 5 * median(before)));
  });

  it('does not delay answers to other clients while the largest upload of traces is read and stored', async () => {
    const batch = largestBatch();
    // Time that this machine takes for parsing alone, at its present load: no request may wait for that.
    const began = performance.now();
    readUpload({ form: 'batch', body: [batch] }, instantOf(new Date()));
    const parsing = performance.now() - began;
    const longestDuringUpload = async (): Promise<number> => {
      let isPending = true;
      const uploaded = ask('POST', '/api/v1/runs/batch', largestBatch()).finally(() => (isPending = false));
      let longest = 0;
      while (isPending) longest = Math.max(longest, await answerTime());
      expect(await uploaded).toMatchObject({ status: 202 });
      return longest;
    };
    // A request waits for the processor at times, but for the parsing it would wait each time.
    const longest: number[] = [];
    do longest.push(await longestDuringUpload());
    while (longest.at(-1)! >= parsing / 2 && longest.length < 3);
    const { rows } = await gantry.sql.query<{ runs: number }>(
      `SELECT count(*)::int AS runs FROM trace_runs WHERE name = 'in a large batch'`,
    );
    expect(rows).toEqual([{ runs: longest.length * 20_002 }]);
    expect(Math.min(...longest)).toBeLessThan(parsing / 2);
  });

  it('is refused in large uploads of traces as in small ones, with the field', async () => {
    const padding = JSON.stringify({ text: 'x'.repeat(1_000_000) });
    const refusal = async (path: string, body: string): Promise<[number, unknown]> => {
      const { status, text } = await ask('POST', path, body);
      return [status, (JSON.parse(text) as { errors?: { path: string }[] }).errors?.[0]?.path];
    };
    const batch = '/api/v1/runs/batch';
    expect(await refusal(batch, `{"post":[{"inputs":${padding}},{"id":"no id"}]}`)).toEqual([422, 'post.1.id']);
    expect(await refusal(batch, `{"post":[{"inputs":${padding}},7]}`)).toEqual([422, 'post.1']);
    expect(await refusal(batch, `{"post":[{"inputs":${padding}},`)).toEqual([422, '']);
    expect(await refusal(batch, `{"patch":[${'{},'.repeat(300_000)}{}]}`)).toEqual([422, 'patch.0.id']);
    expect(await refusal(batch, `{"post":[${'{},'.repeat(300_000)}{}]}`)).toEqual([413, undefined]);
    expect(await refusal('/otel/v1/traces', `{"resourceSpans":7,"padding":${padding}}`)).toEqual([400, undefined]);
    await isAlive();
  });
});

/** Schema of the elements of a list; undefined for what is none. */
function itemsOf({ items, anyOf, oneOf }: Schema): Schema | undefined {
  return items ?? (anyOf ?? oneOf ?? []).find((each) => each.items)?.items;
}

type FieldKind = 'string' | 'number' | 'value' | 'other';

function kindOf({ type, anyOf, oneOf, enum: values, format, $ref }: Schema): FieldKind {
  const [first] = (anyOf ?? oneOf ?? []).filter((each) => each.type !== 'null');
  if (first) return kindOf(first);
  if (values || format === 'uuid' || $ref) return 'other';
  const only = Array.isArray(type) ? type.find((each) => each !== 'null') : type;
  if (only === 'string') return 'string';
  if (only === 'integer' || only === 'number') return 'number';
  return only === undefined || only === 'object' ? 'value' : 'other';
}

/** A batch of 100 MiB: many small runs, one of a million numbers, one of as many letters as a run may have, and some text. */
function largestBatch(): Buffer {
  const run = (inputs: string): string =>
    `{"id":"${uuidv7()}","name":"in a large batch","run_type":"chain","inputs":${inputs}}`;
  const runs = [
    run(`{"vector":[${'0.123456,'.repeat(1_000_000)}0]}`),
    run(JSON.stringify({ text: 'x'.repeat(30_000_000) })),
    ...Array.from({ length: 10_000 }, () => run('{"a":"b"}')),
    ...Array.from({ length: 10_000 }, () => run(JSON.stringify({ text: '\u00e9\n'.repeat(1_500) }))),
  ];
  const batch = Buffer.from(`{"post":[${runs.join()}]}`);
  expect(batch.length).toBeLessThan(100 * 1024 * 1024);
  expect(batch.length).toBeGreaterThan(95 * 1024 * 1024);
  return batch;
}

/** JSON of an object with a literal in some of its fields, as JSON.stringify would not write it. */
function written(least: Record<string, unknown>, names: string[], literal: string): string {
  const fields = new Map(Object.entries(least).map(([name, value]) => [name, JSON.stringify(value)]));
  for (const name of names) fields.set(name, literal);
  return `{${[...fields].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`;
}
