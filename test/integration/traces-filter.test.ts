import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { Client } from 'pg';
import { amount } from '../support/amount';
import { startApiProcess, ApiProcess } from '../support/api-process';

/** Generated queries of each property, others with each seed. */
const QUERIES = amount(150, 400);

type Json = Record<string, unknown>;
interface Pair {
  key: string;
  value: string;
}

interface Sample {
  id: string;
  name: string;
  run_type: string;
  start: number;
  latency: number | null;
  error: string | null;
  tags: string[];
  metadata: Record<string, string | number>;
  inputs: Json;
  tokens: number;
  isRoot: boolean;
  feedback: { key: string; score: number | null; value: string | null }[];
}

const WORDS = [
  'alpha',
  'beta',
  'Gamma',
  '100%',
  'a_b',
  "o'hara",
  'say "x"',
  'back\\slash',
  'ünï',
  "'); DROP TABLE trace_runs; --",
];
const KEYS = ['user', 'plan', 'region'];
const BASE = Date.parse('2026-11-20T12:00:00Z');

const word = fc.constantFrom(...WORDS);
const words = fc.subarray(WORDS);
const key = fc.constantFrom(...KEYS);
const small = fc.nat(4);
/** 0, 0.5, 1 … */
const halves = (most: number): fc.Arbitrary<number> => fc.nat(most * 2).map((n) => n / 2);
const moment = fc.nat(99).map((seconds) => BASE + seconds * 1000);
const underSomeKeys = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.dictionary(key, value, { noNullPrototype: true });

const sample: fc.Arbitrary<Sample> = fc.record({
  id: fc.uuid(),
  name: word,
  run_type: fc.constantFrom('llm', 'chain', 'tool'),
  start: moment,
  latency: fc.option(halves(5), { freq: 4 }),
  error: fc.option(word, { freq: 1 }),
  tags: words,
  metadata: underSomeKeys(fc.oneof(word, small)),
  inputs: underSomeKeys(
    fc.oneof(
      word,
      fc.record({ deep: word }, { noNullPrototype: true }).map((deep) => [deep]),
    ),
  ),
  tokens: small,
  isRoot: fc.boolean(),
  feedback: underSomeKeys(
    fc.oneof(
      halves(1).map((score) => ({ score, value: null })),
      word.map((value) => ({ score: null, value })),
    ),
  ).map((under) => Object.entries(under).map(([name, entry]) => ({ key: name, ...entry }))),
});

// A second implementation of the language's meaning, without SQL.
type Predicate = (run: Sample) => boolean;
interface Filter {
  text: string;
  holds: Predicate;
}

const quote = (value: string): string => JSON.stringify(value);
/** SQL's LIKE: `%` and `_` are wildcards, a backslash takes the next character as it is. */
function like(value: string, pattern: string): boolean {
  const source = pattern.replace(/\\([^])|([^])/gu, (_all, escaped: string | undefined, plain: string | undefined) => {
    if (plain === '%') return '[^]*';
    if (plain === '_') return '[^]';
    return (escaped ?? plain ?? '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${source}$`, 'u').test(value);
}

function pairsOf(node: unknown, path = ''): Pair[] {
  if (Array.isArray(node)) return node.flatMap((item) => [...(path ? [own(item, path)] : []), ...pairsOf(item, path)]);
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    const at = path ? `${path}.${key}` : key;
    return [own(value, at), ...pairsOf(value, at)];
  });
}
const own = (value: unknown, key: string): Pair => ({
  key,
  value: typeof value === 'string' ? value : JSON.stringify(value),
});

const numbers = {
  gt: (a: number, b: number) => a > b,
  gte: (a: number, b: number) => a >= b,
  lt: (a: number, b: number) => a < b,
  lte: (a: number, b: number) => a <= b,
};

const order = fc.constantFrom(...(Object.keys(numbers) as (keyof typeof numbers)[]));
const always = (text: string, holds: Predicate): fc.Arbitrary<Filter> => fc.constant({ text, holds });

const LEAVES: fc.Arbitrary<Filter>[] = [
  word.map((w) => ({ text: `eq(name, ${quote(w)})`, holds: (r) => r.name === w })),
  word.map((w) => ({ text: `neq(error, ${quote(w)})`, holds: (r) => r.error !== w })),
  fc.constantFrom('%a%', '1%').map((p) => ({
    text: `nlike(error, "${p}")`,
    holds: (r) => r.error === null || !like(r.error, p),
  })),
  always('neq(error, null)', (r) => r.error !== null),
  always('eq(error, null)', (r) => r.error === null),
  always('eq(status, "pending")', (r) => r.error === null && r.latency === null),
  words.map((w) => ({ text: `in(name, [${w.map(quote).join(',')}])`, holds: (r) => w.includes(r.name) })),
  words.map((w) => ({ text: `nin(error, [${w.map(quote).join(',')}])`, holds: (r) => !w.includes(r.error ?? '?') })),
  fc.tuple(order, small).map(([c, n]) => ({
    text: `${c}(total_tokens, ${n})`,
    holds: (r) => numbers[c](r.tokens, n),
  })),
  fc.tuple(order, halves(5)).map(([c, n]) => ({
    text: `${c}(latency, "${n * 1000}ms")`,
    holds: (r) => r.latency !== null && numbers[c](r.latency, n),
  })),
  fc.tuple(order, moment).map(([c, t]) => ({
    text: `${c}(start_time, "${new Date(t).toISOString()}")`,
    holds: (r) => numbers[c](r.start, t),
  })),
  fc.boolean().map((b) => ({ text: `eq(is_root, ${b})`, holds: (r) => r.isRoot === b })),
  word.map((w) => ({ text: `has(tags, ${quote(w)})`, holds: (r) => r.tags.includes(w) })),
  fc.constantFrom('%a%', 'a_b', '%"%', '%\\\\%', '1%', '%_').map((p) => ({
    text: `like(name, "${p.replace(/"/g, '\\"')}")`,
    holds: (r) => like(r.name, p.replace('\\\\', '\\')),
  })),
  fc.constantFrom('alpha', 'GAMMA', '100%', 'a_b', '"x"', "o'hara").map((w) => ({
    text: `search(name, ${quote(w)})`,
    holds: (r) => r.name.toLowerCase().includes(w.toLowerCase()),
  })),
  key.map((k) => ({ text: `eq(metadata_key, "${k}")`, holds: (r) => k in r.metadata })),
  key.map((k) => ({ text: `neq(metadata_key, "${k}")`, holds: (r) => !(k in r.metadata) })),
  key.map((k) => ({ text: `exists(metadata, "${k}")`, holds: (r) => k in r.metadata })),
  fc.tuple(key, word).map(([k, w]) => ({
    text: `has(metadata, ${quote(JSON.stringify({ [k]: w }))})`,
    holds: (r) => r.metadata[k] === w,
  })),
  fc.tuple(key, word).map(([k, w]) => ({
    text: `and(eq(metadata_key, "${k}"), eq(metadata_value, ${quote(w)}))`,
    holds: (r) => r.metadata[k] === w,
  })),
  fc.tuple(key, word).map(([k, w]) => ({
    text: `and(eq(metadata_key, "${k}"), neq(metadata_value, ${quote(w)}))`,
    holds: (r) => k in r.metadata && r.metadata[k] !== w,
  })),
  fc.tuple(key, word).map(([k, w]) => ({
    text: `and(neq(metadata_key, "${k}"), eq(metadata_value, ${quote(w)}))`,
    holds: (r) => Object.entries(r.metadata).some(([name, value]) => name !== k && value === w),
  })),
  fc.tuple(key, small).map(([k, n]) => ({
    text: `and(eq(metadata_key, "${k}"), gte(metadata_value, ${n}))`,
    holds: (r) => typeof r.metadata[k] === 'number' && r.metadata[k] >= n,
  })),
  fc.tuple(key, word).map(([k, w]) => ({
    text: `and(eq(input_key, "${k}.deep"), eq(input_value, ${quote(w)}))`,
    holds: (r) => pairsOf(r.inputs).some((p) => p.key === `${k}.deep` && p.value === w),
  })),
  key.map((k) => ({
    text: `and(eq(input_key, "${k}"), like(input_value, "%a%"))`,
    holds: (r) => pairsOf(r.inputs).some((p) => p.key === k && like(p.value, '%a%')),
  })),
  fc.tuple(key, halves(1)).map(([k, n]) => ({
    text: `and(eq(feedback_key, "${k}"), gte(feedback_score, ${n}))`,
    holds: (r) => r.feedback.some((f) => f.key === k && f.score !== null && f.score >= n),
  })),
  fc.tuple(key, word).map(([k, w]) => ({
    text: `and(eq(feedback_key, "${k}"), eq(feedback_value, ${quote(w)}))`,
    holds: (r) => r.feedback.some((f) => f.key === k && f.value === w),
  })),
  fc.tuple(key, key, word).map(([a, b, w]) => ({
    text: `and(eq(metadata_key, "${a}"), eq(metadata_value, ${quote(w)}), eq(metadata_key, "${b}"))`,
    holds: (r) => r.metadata[a] === w && b in r.metadata,
  })),
  fc.tuple(key, key, word, word).map(([a, b, w, v]) => ({
    text: `and(eq(metadata_value, ${quote(w)}), eq(metadata_key, "${a}"), eq(metadata_value, ${quote(v)}), eq(metadata_key, "${b}"))`,
    holds: (r) => r.metadata[a] === w && r.metadata[b] === v,
  })),
];

const { filter } = fc.letrec<{ filter: Filter }>((tie) => {
  const operands = fc.array(tie('filter'), { minLength: 1, maxLength: 3 });
  return {
    filter: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.oneof(...LEAVES),
      tie('filter').map(({ text, holds }) => ({ text: `not(${text})`, holds: (run: Sample) => !holds(run) })),
      // Inside and(), pairs of neighbours would bind: or() keeps each operand to itself.
      operands.map((each) => ({
        text: `and(${each.map(({ text }) => `or(${text})`).join(', ')})`,
        holds: (run: Sample) => each.every(({ holds }) => holds(run)),
      })),
      operands.map((each) => ({
        text: `or(${each.map(({ text }) => text).join(', ')})`,
        holds: (run: Sample) => each.some(({ holds }) => holds(run)),
      })),
    ),
  };
});

/** Texts that have broken one query language or another, between any others. */
const hostile = fc.oneof(
  fc.constantFrom(
    "'; DROP TABLE trace_runs; --",
    '\\',
    '%\\',
    '\\\\\\',
    '\0',
    '\ud800',
    '$1',
    '"',
    "''",
    '{"a":',
    '${x}',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom("'", '"', '\\', ';', '-', '%', '_', '$', '1', '(', ')', '\0', '{', '}', '🦊'),
    maxLength: 12,
  }),
);
const FORMS: ((evil: string) => string)[] = [
  (evil) => `eq(name, ${quote(evil)})`,
  (evil) => `in(name, [${quote(evil)}])`,
  (evil) => `like(name, ${quote(evil)})`,
  (evil) => `like(tags, ${quote(evil)})`,
  (evil) => `search(${quote(evil)})`,
  (evil) => `has(tags, ${quote(evil)})`,
  (evil) => `has(metadata, ${quote(evil)})`,
  (evil) => `has(metadata, ${quote(JSON.stringify({ [evil]: evil }))})`,
  (evil) => `exists(metadata, ${quote(evil)})`,
  (evil) => `and(eq(metadata_key, ${quote(evil)}), gt(metadata_value, ${quote(evil)}))`,
  (evil) => `and(eq(input_key, ${quote(evil)}), like(input_value, ${quote(evil)}))`,
  (evil) => `and(eq(feedback_key, ${quote(evil)}), neq(feedback_comment, ${quote(evil)}))`,
];

describe('filters of trace queries', () => {
  let api: ApiProcess;
  let session: string;
  const samples = fc.sample(sample, 60);

  const post = async (path: string, body: unknown): Promise<{ status: number; body: Json }> => {
    const response = await fetch(api.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Json };
  };
  const matching = async (query: Json): Promise<string[]> => {
    const { status, body } = await post('/runs/query', { session: [session], select: ['id'], ...query });
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)} for ${JSON.stringify(query)}`);
    return (body.runs as { id: string }[]).map(({ id }) => id).sort();
  };

  beforeAll(async () => {
    api = await startApiProcess();
    const parent = randomUUID();
    const runs = samples.map((run) => ({
      id: run.id,
      ...(!run.isRoot && { parent_run_id: parent }),
      trace_id: run.isRoot ? run.id : parent,
      name: run.name,
      run_type: run.run_type,
      start_time: run.start,
      ...(run.latency !== null && { end_time: run.start + run.latency * 1000 }),
      ...(run.error !== null && { error: run.error }),
      tags: run.tags,
      inputs: run.inputs,
      outputs: { usage_metadata: { total_tokens: run.tokens } },
      extra: { metadata: run.metadata },
      session_name: 'filters',
    }));
    expect((await post('/api/v1/runs/batch', { post: runs })).status).toBe(202);
    for (const run of samples) {
      for (const feedback of run.feedback)
        expect((await post('/feedback', { run_id: run.id, ...feedback })).status).toBe(200);
    }
    const sessions = (await (await fetch(`${api.url}/sessions?name=filters`)).json()) as { id: string }[];
    session = sessions[0]?.id ?? '';
  });
  afterAll(() => api.close());

  it('agree with the definition of the language over generated data', async () => {
    await fc.assert(
      fc.asyncProperty(filter, async ({ text, holds }) => {
        const expected = samples.filter(holds).map(({ id }) => id);
        expect({ text, ids: await matching({ filter: text }) }).toEqual({ text, ids: expected.sort() });
      }),
      { numRuns: QUERIES, seed: jest.getSeed() },
    );
  });

  it('survive attempts at injection, and leave the table intact', async () => {
    const db = new Client({ connectionString: api.database.url });
    await db.connect();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...FORMS), hostile, async (form, evil) => {
        expect(await matching({ filter: form(evil) })).toEqual(expect.any(Array));
      }),
      { numRuns: QUERIES, seed: jest.getSeed() },
    );
    expect((await db.query('SELECT count(*)::int AS n FROM trace_runs')).rows).toEqual([{ n: samples.length }]);
    await db.end();
  });

  it('apply to the root or to any run of a trace', async () => {
    const [root, child, grandchild] = [randomUUID(), randomUUID(), randomUUID()] as const;
    const at = '2026-11-20T13:00:00Z';
    const stamp = '20261120T130000000000Z';
    const base = { session_name: 'trees', run_type: 'chain', start_time: at, trace_id: root };
    await post('/api/v1/runs/batch', {
      post: [
        { ...base, id: root, name: 'root', dotted_order: `${stamp}${root}`, tags: ['wanted'] },
        { ...base, id: child, name: 'child', parent_run_id: root, dotted_order: `${stamp}${root}.${stamp}${child}` },
        {
          ...base,
          id: grandchild,
          name: 'leaf',
          parent_run_id: child,
          dotted_order: `${stamp}${root}.${stamp}${child}.${stamp}${grandchild}`,
        },
      ],
    });
    const sessions = (await (await fetch(`${api.url}/sessions?name=trees`)).json()) as { id: string }[];
    const inTrees = (query: Json) => matching({ session: [sessions[0]?.id], ...query });
    expect(await inTrees({ trace_filter: 'has(tags, "wanted")', filter: 'eq(name, "leaf")' })).toEqual([grandchild]);
    expect(await inTrees({ trace_filter: 'eq(name, "leaf")' })).toEqual([]);
    expect(await inTrees({ tree_filter: 'eq(name, "leaf")', is_root: true })).toEqual([root]);
    expect(await inTrees({ tree_filter: 'eq(name, "leaf")', start_time: '2026-11-20T12:00:00Z' })).toEqual(
      [root, child, grandchild].sort(),
    );
    expect(await inTrees({ parent_run: child })).toEqual([grandchild]);
  });

  it('are refused with the position, and validate without running', async () => {
    const { status, body } = await post('/runs/query', {
      session: [session],
      filter: 'and(eq(name, "a"), eq(colour, "red"))',
    });
    expect(status).toBe(422);
    expect(body.detail).toContain('unknown field colour');
    expect(body.detail).toContain('at position 22');
    expect(body.errors).toEqual([expect.objectContaining({ path: 'filter' })]);
    const checked = await post('/api/v1/runs/query/validate', {
      filter: 'eq(name, "a")',
      tree_filter: 'gt(latency, "fast")',
    });
    expect(checked.body).toEqual({
      valid: false,
      errors: [{ field: 'tree_filter', message: expect.stringContaining('at position 12') as string }],
    });
  });

  it('keep pages in order while runs keep arriving', async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; ; page += 1) {
      const { body } = await post('/runs/query', {
        session: [session],
        limit: 7,
        select: ['id'],
        ...(cursor && { cursor }),
      });
      seen.push(...(body.runs as { id: string }[]).map(({ id }) => id));
      cursor = (body.cursors as { next: string | null }).next ?? undefined;
      if (!cursor) break;
      const late = {
        id: randomUUID(),
        name: 'late',
        run_type: 'chain',
        start_time: BASE + 3_600_000 + page,
        session_name: 'filters',
      };
      expect((await post('/api/v1/runs', late)).status).toBe(202);
    }
    expect(seen).toHaveLength(samples.length);
    expect(new Set(seen)).toEqual(new Set(samples.map(({ id }) => id)));
    expect((await post('/runs/query', { session: [session], cursor: 'nonsense' })).status).toBe(422);
    expect((await post('/runs/query', {})).status).toBe(422);
  });
});
