import { Client } from 'pg';
import { textArray } from '../../src/database/text-array';
import { createTestDatabase, TestDatabase } from '../support/database';

describe('textArray', () => {
  let database: TestDatabase;
  let db: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    db = new Client({ connectionString: database.url });
    await db.connect();
  });
  afterAll(async () => {
    await db.end();
    await database.drop();
  });

  it.each([
    ['nothing', []],
    ['nulls', [null, 'a', null]],
    ['what the text format quotes', ['', 'NULL', '{"a": "\\\\ ,}"}', ' b ', "'"]],
    ['more than a byte a character', ['é', '😀', '\u{10ffff}']],
    ['long texts', ['x'.repeat(1_000_000), 'é'.repeat(100_000)]],
  ])('reads back as it was: %s', async (_title, values) => {
    const { rows } = await db.query<{ values: unknown }>('SELECT $1::text[] AS values', [textArray(values)]);
    expect(rows).toEqual([{ values }]);
  });
});
