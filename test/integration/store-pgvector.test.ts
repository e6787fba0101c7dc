import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { PoolClient } from 'pg';
import type { QueryRunner } from 'typeorm';
import { StoredParameter } from '../../src/database/at-rest';
import type { TenantId } from '../../src/auth/tenant';
import { Store1700000500000 } from '../../src/database/migrations/1700000500000-store';
import { ItemStore } from '../../src/item-store/item-store';
import { type StoreConnections, StoreRepository } from '../../src/item-store/store.repository';
import type { StoredItem } from '../../src/item-store/stored-item';

const TENANT = '0190aaaa-0000-7000-8000-000000000000' as TenantId;
const OTHER = '0190bbbb-0000-7000-8000-000000000000' as TenantId;
const DIMS = 64;

/** The table of the library's set-up, which takes a connection string and so can't come here. */
const LIBRARY_TABLE = `
  CREATE SCHEMA langgraph;
  CREATE TABLE langgraph.store (
    namespace_path text NOT NULL,
    key text NOT NULL,
    value jsonb NOT NULL,
    created_at timestamptz DEFAULT CURRENT_TIMESTAMP,
    updated_at timestamptz DEFAULT CURRENT_TIMESTAMP,
    expires_at timestamptz,
    PRIMARY KEY (namespace_path, key)
  )`;

interface Reply {
  id: number;
  rows?: unknown[];
  affectedRows?: number;
  error?: string;
}

/** The part of a pool's interface that the repository uses, on a Postgres in a process of its own. */
class WasmPostgres {
  private readonly waiting = new Map<number, (reply: Reply) => void>();
  private readonly child: ChildProcess;
  readonly ready: Promise<Reply>;
  private lastId = 0;

  constructor() {
    this.child = fork(join(__dirname, '..', 'support', 'pglite-process.mjs'), {
      serialization: 'advanced',
      execArgv: [],
      env: { PATH: process.env.PATH },
    });
    this.ready = this.reply(0);
    this.child.on('message', (message) => {
      const reply = message as Reply;
      this.waiting.get(reply.id)?.(reply);
    });
  }

  get pool(): StoreConnections {
    const query = (statement: string | { text: string; values: unknown[] }, values?: unknown[]) =>
      typeof statement === 'string' ? this.ask(statement, values) : this.ask(statement.text, statement.values);
    return { connect: () => Promise.resolve({ query, release: () => undefined } as unknown as PoolClient) };
  }

  async ask(text: string, values?: unknown[]): Promise<{ rows: unknown[]; rowCount: number }> {
    this.lastId += 1;
    const answer = this.reply(this.lastId);
    // Parameters in the form of the Postgres driver.
    const sent = values?.map((value) => (value instanceof StoredParameter ? value.toPostgres() : value));
    this.child.send({ id: this.lastId, text, values: sent });
    const { rows = [], affectedRows = 0, error } = await answer;
    if (error) throw new Error(error);
    return { rows, rowCount: rows.length > 0 ? rows.length : affectedRows };
  }

  close(): void {
    this.child.disconnect();
  }

  private reply(id: number): Promise<Reply> {
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }
}

/** The same for the same text, in no particular direction. */
function embed(texts: string[]): number[][] {
  return texts.map((text) => {
    let seed = [...text].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 2147483647, 7);
    return Array.from({ length: DIMS }, () => {
      seed = (seed * 48271) % 2147483647;
      return seed / 2147483647 - 0.5;
    });
  });
}

/** pgvector on a Postgres compiled to WebAssembly: the one that Gantry brings doesn't have the extension. */
describe('semantic search with pgvector', () => {
  let db: WasmPostgres;
  let arrays: StoreRepository;
  let extension: StoreRepository;

  const storeOn = (repository: StoreRepository): ItemStore =>
    new ItemStore(
      repository,
      {
        index: { dims: DIMS, embed: { kind: 'provider', provider: '', model: '', folder: '' }, fields: ['text[*]'] },
        refreshOnRead: true,
      },
      (_tenantId, _kind, texts) => Promise.resolve(embed(texts)),
    );

  /** Arrays are computed in double, pgvector in single precision. */
  const expectSame = (items: StoredItem[], expected: StoredItem[]): void => {
    expect(items.map(({ key }) => key)).toEqual(expected.map(({ key }) => key));
    for (const [at, { score }] of items.entries()) {
      if (score === null) expect(expected[at].score).toBeNull();
      else expect(score).toBeCloseTo(expected[at].score!, 5);
    }
  };

  beforeAll(async () => {
    db = new WasmPostgres();
    await db.ready;
    await db.ask(LIBRARY_TABLE);
    await new Store1700000500000().up({ query: (sql: string) => db.ask(sql) } as unknown as QueryRunner);
    arrays = new StoreRepository(db.pool);
    expect(await arrays.hasVectorExtension()).toBe(false);
    const store = storeOn(arrays);
    for (let index = 0; index < 60; index += 1) {
      const text = Array.from({ length: index % 4 }, (_, part) => `text ${index} part ${part}`);
      await store.put(index % 5 === 0 ? OTHER : TENANT, {
        namespace: ['docs', `group-${index % 3}`],
        key: `item-${index}`,
        value: { text, index },
      });
    }
    // Schema for installations that don't want the extension among their own tables.
    await db.ask('CREATE SCHEMA extensions; CREATE EXTENSION vector SCHEMA extensions');
    extension = new StoreRepository(db.pool);
    expect(await extension.hasVectorExtension()).toBe(true);
  }, 240_000);

  afterAll(() => db?.close());

  it.each([
    ['a tenant', {}],
    ['a namespace', { prefix: ['docs', 'group-1'] }],
    ['what a filter leaves', { filter: { index: { $lt: 30 } } }],
    ['a page', { limit: 7, offset: 5 }],
    ['a page after all items with a score', { limit: 20, offset: 30 }],
  ])('finds the same in %s, with the same scores, as exact cosine over arrays', async (_, search) => {
    for (const query of ['text 7 part 1', 'something else']) {
      const request = { query, limit: 100, offset: 0, ...search };
      const expected = await storeOn(arrays).search(TENANT, request);
      expect(expected.length).toBeGreaterThan(3);
      expectSame(await storeOn(extension).search(TENANT, request), expected);
    }
  });

  it('finds the identical text with a score of 1', async () => {
    const [best] = await storeOn(extension).search(TENANT, { query: 'text 7 part 1', limit: 1, offset: 0 });
    expect(best.key).toBe('item-7');
    expect(best.score).toBeCloseTo(1, 5);
  });
});
