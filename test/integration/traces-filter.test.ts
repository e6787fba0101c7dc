import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { startTestApi, TestApi } from '../support/api';

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

/** mulberry32: the same data and the same filters in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const random = generator(20261121);
const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)];
const some = <T>(items: readonly T[]): T[] => items.filter(() => random() < 0.4);

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

function sample(): Sample {
  return {
    id: randomUUID(),
    name: pick(WORDS),
    run_type: pick(['llm', 'chain', 'tool']),
    start: BASE + Math.floor(random() * 100) * 1000,
    latency: random() < 0.2 ? null : Math.floor(random() * 10) / 2,
    error: random() < 0.3 ? pick(WORDS) : null,
    tags: some(WORDS),
    metadata: Object.fromEntries(
      some(KEYS).map((key) => [key, random() < 0.5 ? pick(WORDS) : Math.floor(random() * 5)]),
    ),
    inputs: Object.fromEntries(some(KEYS).map((key) => [key, random() < 0.5 ? pick(WORDS) : [{ deep: pick(WORDS) }]])),
    tokens: Math.floor(random() * 5),
    isRoot: random() < 0.5,
    feedback: some(KEYS).map((key) =>
      random() < 0.5
        ? { key, score: Math.floor(random() * 3) / 2, value: null }
        : { key, score: null, value: pick(WORDS) },
    ),
  };
}

// What the language means, said a second time and without SQL.
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

const LEAVES: (() => Filter)[] = [
  () => {
    const w = pick(WORDS);
    return { text: `eq(name, ${quote(w)})`, holds: (r) => r.name === w };
  },
  () => {
    const w = pick(WORDS);
    return { text: `neq(error, ${quote(w)})`, holds: (r) => r.error !== w };
  },
  () => ({ text: 'neq(error, null)', holds: (r) => r.error !== null }),
  () => ({ text: 'eq(error, null)', holds: (r) => r.error === null }),
  () => ({ text: 'eq(status, "pending")', holds: (r) => r.error === null && r.latency === null }),
  () => {
    const w = some(WORDS);
    return { text: `in(name, [${w.map(quote).join(',')}])`, holds: (r) => w.includes(r.name) };
  },
  () => {
    const w = some(WORDS);
    return { text: `nin(error, [${w.map(quote).join(',')}])`, holds: (r) => !w.includes(r.error ?? '?') };
  },
  () => {
    const c = pick(Object.keys(numbers)) as keyof typeof numbers;
    const n = Math.floor(random() * 5);
    return { text: `${c}(total_tokens, ${n})`, holds: (r) => numbers[c](r.tokens, n) };
  },
  () => {
    const c = pick(Object.keys(numbers)) as keyof typeof numbers;
    const n = Math.floor(random() * 10) / 2;
    return { text: `${c}(latency, "${n * 1000}ms")`, holds: (r) => r.latency !== null && numbers[c](r.latency, n) };
  },
  () => {
    const c = pick(Object.keys(numbers)) as keyof typeof numbers;
    const t = BASE + Math.floor(random() * 100) * 1000;
    return { text: `${c}(start_time, "${new Date(t).toISOString()}")`, holds: (r) => numbers[c](r.start, t) };
  },
  () => {
    const b = random() < 0.5;
    return { text: `eq(is_root, ${b})`, holds: (r) => r.isRoot === b };
  },
  () => {
    const w = pick(WORDS);
    return { text: `has(tags, ${quote(w)})`, holds: (r) => r.tags.includes(w) };
  },
  () => {
    const p = pick(['%a%', 'a_b', '%"%', '%\\\\%', '1%', '%_']);
    return { text: `like(name, "${p.replace(/"/g, '\\"')}")`, holds: (r) => like(r.name, p.replace('\\\\', '\\')) };
  },
  () => {
    const w = pick(['alpha', 'GAMMA', '100%', 'a_b', '"x"', "o'hara"]);
    return { text: `search(name, ${quote(w)})`, holds: (r) => r.name.toLowerCase().includes(w.toLowerCase()) };
  },
  () => {
    const k = pick(KEYS);
    return { text: `eq(metadata_key, "${k}")`, holds: (r) => k in r.metadata };
  },
  () => {
    const k = pick(KEYS);
    return { text: `neq(metadata_key, "${k}")`, holds: (r) => !(k in r.metadata) };
  },
  () => {
    const k = pick(KEYS);
    return { text: `exists(metadata, "${k}")`, holds: (r) => k in r.metadata };
  },
  () => {
    const k = pick(KEYS);
    const w = pick(WORDS);
    return { text: `has(metadata, ${quote(JSON.stringify({ [k]: w }))})`, holds: (r) => r.metadata[k] === w };
  },
  () => {
    const k = pick(KEYS);
    const w = pick(WORDS);
    return {
      text: `and(eq(metadata_key, "${k}"), eq(metadata_value, ${quote(w)}))`,
      holds: (r) => r.metadata[k] === w,
    };
  },
  () => {
    const k = pick(KEYS);
    const w = pick(WORDS);
    return {
      text: `and(eq(metadata_key, "${k}"), neq(metadata_value, ${quote(w)}))`,
      holds: (r) => k in r.metadata && r.metadata[k] !== w,
    };
  },
  () => {
    const k = pick(KEYS);
    const w = pick(WORDS);
    return {
      text: `and(neq(metadata_key, "${k}"), eq(metadata_value, ${quote(w)}))`,
      holds: (r) => Object.entries(r.metadata).some(([key, value]) => key !== k && value === w),
    };
  },
  () => {
    const k = pick(KEYS);
    const n = Math.floor(random() * 5);
    return {
      text: `and(eq(metadata_key, "${k}"), gte(metadata_value, ${n}))`,
      holds: (r) => typeof r.metadata[k] === 'number' && r.metadata[k] >= n,
    };
  },
  () => {
    const k = pick(KEYS);
    const w = pick(WORDS);
    return {
      text: `and(eq(input_key, "${k}.deep"), eq(input_value, ${quote(w)}))`,
      holds: (r) => pairsOf(r.inputs).some((p) => p.key === `${k}.deep` && p.value === w),
    };
  },
  () => {
    const k = pick(KEYS);
    return {
      text: `and(eq(input_key, "${k}"), like(input_value, "%a%"))`,
      holds: (r) => pairsOf(r.inputs).some((p) => p.key === k && like(p.value, '%a%')),
    };
  },
  () => {
    const k = pick(KEYS);
    const n = Math.floor(random() * 3) / 2;
    return {
      text: `and(eq(feedback_key, "${k}"), gte(feedback_score, ${n}))`,
      holds: (r) => r.feedback.some((f) => f.key === k && f.score !== null && f.score >= n),
    };
  },
  () => {
    const k = pick(KEYS);
    const w = pick(WORDS);
    return {
      text: `and(eq(feedback_key, "${k}"), eq(feedback_value, ${quote(w)}))`,
      holds: (r) => r.feedback.some((f) => f.key === k && f.value === w),
    };
  },
  () => {
    const [a, b] = [pick(KEYS), pick(KEYS)];
    const w = pick(WORDS);
    return {
      text: `and(eq(metadata_key, "${a}"), eq(metadata_value, ${quote(w)}), eq(metadata_key, "${b}"))`,
      holds: (r) => r.metadata[a] === w && b in r.metadata,
    };
  },
];

function filter(depth: number): Filter {
  const kind = depth === 0 ? 'leaf' : pick(['leaf', 'and', 'or', 'not']);
  if (kind === 'leaf') return pick(LEAVES)();
  if (kind === 'not') {
    const inner = filter(depth - 1);
    return { text: `not(${inner.text})`, holds: (run) => !inner.holds(run) };
  }
  // Inside and(), pairs of neighbours would bind: or() keeps each operand to itself.
  const operands = Array.from({ length: 1 + Math.floor(random() * 3) }, () => filter(depth - 1)).map((operand) =>
    kind === 'and' ? { ...operand, text: `or(${operand.text})` } : operand,
  );
  return {
    text: `${kind}(${operands.map(({ text }) => text).join(', ')})`,
    holds: (run) =>
      kind === 'and' ? operands.every((operand) => operand.holds(run)) : operands.some((operand) => operand.holds(run)),
  };
}

describe('filters of trace queries', () => {
  let api: TestApi;
  let session: string;
  const samples = Array.from({ length: 60 }, sample);

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
    api = await startTestApi();
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

  it('agree with the meaning of the language over generated data', async () => {
    for (let round = 0; round < 400; round += 1) {
      const { text, holds } = filter(round % 4);
      const expected = samples
        .filter(holds)
        .map(({ id }) => id)
        .sort();
      expect({ text, ids: await matching({ filter: text }) }).toEqual({ text, ids: expected });
    }
  });

  it('survive attempts at injection, and leave the table standing', async () => {
    const db = new Client({ connectionString: api.database.url });
    await db.connect();
    for (const evil of [
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
      '🦊',
      '${x}',
    ]) {
      for (const text of [
        `eq(name, ${quote(evil)})`,
        `like(name, ${quote(evil)})`,
        `like(tags, ${quote(evil)})`,
        `search(${quote(evil)})`,
        `has(tags, ${quote(evil)})`,
        `has(metadata, ${quote(evil)})`,
        `has(metadata, ${quote(JSON.stringify({ [evil]: evil }))})`,
        `exists(metadata, ${quote(evil)})`,
        `and(eq(metadata_key, ${quote(evil)}), gt(metadata_value, ${quote(evil)}))`,
        `and(eq(input_key, ${quote(evil)}), like(input_value, ${quote(evil)}))`,
      ]) {
        expect(await matching({ filter: text })).toEqual(expect.any(Array));
      }
    }
    expect((await db.query('SELECT count(*)::int AS n FROM trace_runs')).rows).toEqual([{ n: samples.length }]);
    await db.end();
  });

  it('ask the root or any run of a trace', async () => {
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

  it('leave pages in order while runs keep arriving', async () => {
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
