import { Client } from 'pg';
import { byteaArray, textArray } from '../../src/database/binary-array';
import { createTestDatabase, TestDatabase } from '../support/database';

describe('arrays in binary format', () => {
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
  ])('are read back as texts: %s', async (_title, values) => {
    const { rows } = await db.query<{ values: unknown }>('SELECT $1::text[] AS values', [textArray(values)]);
    expect(rows).toEqual([{ values }]);
  });

  it.each([
    ['nothing', []],
    ['nulls', [null, Buffer.from('a'), null]],
    ['every byte', [Buffer.alloc(0), Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))]],
    ['long ones', [Buffer.alloc(1_000_000, 0xff), Buffer.alloc(100_000, '{"\\')]],
  ])('are read back as bytes: %s', async (_title, values) => {
    const { rows } = await db.query<{ values: unknown }>('SELECT $1::bytea[] AS values', [byteaArray(values)]);
    expect(rows).toEqual([{ values }]);
  });
});
