import { randomBytes } from 'node:crypto';
import { AppConfig } from '../../src/config/config';
import { SEALED_DOCUMENTS, SEALED_FIELDS, type SealedField, type SealingContext } from '../../src/crypto/sealed-fields';
import { SecretBox } from '../../src/crypto/secret-box';
import { SecretRotationService } from '../../src/crypto/secret-rotation.service';
import { SecretValues } from '../../src/crypto/secret-values';
import { createDataSource } from '../../src/database/data-source';
import { createTestDatabase, TestDatabase } from '../support/database';
import { DataSource } from 'typeorm';

const TENANT = '00000000-0000-0000-0000-00000000000a';
const box = (...sealingKeys: Buffer[]): SecretBox =>
  new SecretBox({ secrets: { sealingKeys } } as unknown as AppConfig);

describe('the rotation of keys', () => {
  let database: TestDatabase;
  let source: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    source = await createDataSource(database.url).initialize();
  });

  afterAll(async () => {
    await source?.destroy();
    await database?.drop();
  });

  it('includes every column that holds a sealed value', async () => {
    // A sealed value is recognised by its name in the schema: a new one is named like these.
    const found: { name: string }[] = await source.query(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
       WHERE table_schema = current_schema() AND data_type = 'text'
         AND (column_name IN ('credentials', 'webhook') OR column_name LIKE 'sealed%') ORDER BY 1`,
    );
    const fields: SealedField[] = Object.values(SEALED_FIELDS);
    const columns = fields.filter(({ field }) => field === undefined);
    expect(columns.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(found.map(({ name }) => name));
  });

  it('reseals values in rows with a key of two columns, and in a field of JSON', async () => {
    const [old, next] = [randomBytes(32), randomBytes(32)];
    await source.query(`CREATE TABLE pairs (tenant_id uuid, a uuid, b text, value jsonb, PRIMARY KEY (a, b))`);
    const context = (...parts: string[]): SealingContext => parts.join('/') as SealingContext;
    const a = '00000000-0000-0000-0000-0000000000a1';
    for (const b of ['x', 'y']) {
      const value = { sealed: box(old).seal(`secret ${b}`, context(TENANT, a, b)), other: [1] };
      await source.query(`INSERT INTO pairs VALUES ($1, $2, $3, $4)`, [TENANT, a, b, JSON.stringify(value)]);
    }
    await source.query(`INSERT INTO pairs VALUES ($1, $2, 'none', '{}')`, [TENANT, a]);
    const rotation = new SecretRotationService(box(next, old), source);
    const column = { table: 'pairs', column: 'value', field: 'sealed', keyColumns: ['a', 'b'], context };
    expect(await rotation.rotate([column], [])).toEqual([
      { table: 'pairs', column: 'value.sealed', rotated: 2, unreadable: 0 },
    ]);
    const rows: { b: string; value: { sealed: string; other: number[] } }[] = await source.query(
      `SELECT b, value FROM pairs WHERE b <> 'none' ORDER BY b`,
    );
    expect(rows.map(({ b, value }) => [box(next).open(value.sealed, context(TENANT, a, b)), value.other])).toEqual([
      ['secret x', [1]],
      ['secret y', [1]],
    ]);
  });

  it('reseals values inside JSON, wherever they are', async () => {
    const [old, next] = [randomBytes(32), randomBytes(32)];
    await source.query(`CREATE TABLE documents (tenant_id uuid, id int PRIMARY KEY, value jsonb)`);
    const given = {
      config: { configurable: { api_key: 'the first one', list: [{ password: 'the second one' }], model: 'small' } },
    };
    const insert = (id: number, value: unknown): Promise<unknown> =>
      source.query(`INSERT INTO documents VALUES ($1, $2, $3)`, [TENANT, id, JSON.stringify(value)]);
    await insert(1, new SecretValues(box(randomBytes(32))).seal(TENANT, given));
    for (let id = 2; id <= 300; id += 1) await insert(id, new SecretValues(box(old)).seal(TENANT, given));
    await insert(301, { none: true });
    // Texts of callers that look like sealed values, and aren't.
    await insert(302, {
      question: 'what is gantry-sealed: for?',
      answer: 'see "gantry-sealed:x"',
      name: 'gantry-sealed:ü',
    });
    // What can be decrypted of a document doesn't stay under the old key because of what can't.
    await insert(303, {
      lost: new SecretValues(box(randomBytes(32))).seal(TENANT, given),
      kept: new SecretValues(box(old)).seal(TENANT, given),
    });
    const rotation = new SecretRotationService(box(next, old), source);
    const document = { table: 'documents', column: 'value', keyColumns: ['id'] };
    expect(await rotation.rotate([], [document])).toEqual([
      { table: 'documents', column: 'value', rotated: 299, unreadable: 2 },
    ]);
    const rows: { value: object }[] = await source.query(`SELECT value FROM documents WHERE id BETWEEN 2 AND 300`);
    for (const { value } of rows) {
      expect(JSON.stringify(value)).not.toMatch(/the (first|second) one/);
      expect(new SecretValues(box(next)).open(TENANT, value)).toEqual(given);
      // A value that was copied to another tenant stays closed.
      expect(new SecretValues(box(next)).open('00000000-0000-0000-0000-00000000000b', value)).toEqual(value);
    }
    const [{ kept }]: { kept: object }[] = await source.query(
      `SELECT value -> 'kept' AS kept FROM documents WHERE id = 303`,
    );
    expect(new SecretValues(box(next)).open(TENANT, kept)).toEqual(given);
    expect((await rotation.rotate([], [document]))[0]).toMatchObject({ rotated: 0, unreadable: 2 });
  });

  describe('meets writers of the same documents', () => {
    const [old, next] = [randomBytes(32), randomBytes(32)];
    const document = { table: 'written', column: 'value', keyColumns: ['id'] };
    const secret = { api_key: 'the secret' };

    beforeAll(() => source.query(`CREATE TABLE written (tenant_id uuid, id int PRIMARY KEY, value jsonb)`));

    beforeEach(async () => {
      await source.query('DELETE FROM written');
      const value = new SecretValues(box(old)).seal(TENANT, { ...secret, note: 0 });
      for (const id of [1, 2]) {
        await source.query('INSERT INTO written VALUES ($1, $2, $3)', [TENANT, id, JSON.stringify(value)]);
      }
    });

    /** A rotation whose statements are executed after the work of a writer. */
    const rotationAfter = (write: (sql: string) => Promise<unknown>): SecretRotationService => {
      const query = async (sql: string, parameters: unknown[]): Promise<unknown> => {
        await write(sql);
        return source.query(sql, parameters);
      };
      return new SecretRotationService(box(next, old), { query } as unknown as DataSource);
    };
    const values = async (): Promise<object[]> => {
      const rows: { value: object }[] = await source.query('SELECT value FROM written ORDER BY id');
      return rows.map(({ value }) => new SecretValues(box(next)).open(TENANT, value));
    };

    it('and reseals what they have left under the earlier key', async () => {
      let writes = 0;
      // Between the read of the documents and the first update, as a client does that sends back a masked secret.
      const rotation = rotationAfter(async (sql) => {
        if (!sql.startsWith('UPDATE') || writes > 0) return;
        writes += 1;
        await source.query(`UPDATE written SET value = value || '{"note": 1}' WHERE id = 1`);
      });
      expect(await rotation.rotate([], [document])).toEqual([
        { table: 'written', column: 'value', rotated: 2, unreadable: 0 },
      ]);
      expect(await values()).toEqual([
        { ...secret, note: 1 },
        { ...secret, note: 0 },
      ]);
    });

    it('and reseals what they have copied meanwhile into a row that it had passed', async () => {
      let copies = 0;
      const rotation = rotationAfter(async (sql) => {
        if (!sql.startsWith('UPDATE') || copies > 0) return;
        copies += 1;
        await source.query('INSERT INTO written SELECT tenant_id, 0, value FROM written WHERE id = 2');
      });
      expect(await rotation.rotate([], [document])).toMatchObject([{ rotated: 3, unreadable: 0 }]);
      expect(await values()).toEqual(Array.from({ length: 3 }, () => ({ ...secret, note: 0 })));
    });

    it('and reports that one of them does not stop sealing with the earlier key', async () => {
      let writes = 0;
      const rotation = rotationAfter(async (sql) => {
        if (!sql.startsWith('UPDATE')) return;
        writes += 1;
        const value = new SecretValues(box(old)).seal(TENANT, { ...secret, note: writes });
        await source.query('UPDATE written SET value = $1 WHERE id = 1', [JSON.stringify(value)]);
      });
      await expect(rotation.rotate([], [document])).rejects.toThrow('still being sealed with an earlier key');
    });
  });

  it('includes every column of JSON that may contain them', async () => {
    for (const { table, column, keyColumns } of SEALED_DOCUMENTS) {
      const columns = [column, 'tenant_id', ...keyColumns].join(', ');
      await expect(source.query(`SELECT ${columns} FROM ${table} WHERE ${column} = '{}'::jsonb`)).resolves.toEqual([]);
    }
  });

  it('reseals what is stored with the new key, after which the old one opens nothing and is not needed', async () => {
    const [old, next] = [randomBytes(32), randomBytes(32)];
    await source.query(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'rotation')`, [TENANT]);
    const ids = Array.from({ length: 450 }, (_, n) => `00000000-0000-0000-0000-${String(n + 1).padStart(12, '0')}`);
    for (const id of ids) {
      await source.query(
        `INSERT INTO export_destinations (tenant_id, destination_id, destination_type, display_name, config, credentials,
           credentials_keys) VALUES ($1, $2, 's3', 'd', '{}', $3, '{}')`,
        [TENANT, id, box(old).seal(`secret of ${id}`, SEALED_FIELDS.destinationCredentials.context(TENANT, id))],
      );
    }
    const lost = '00000000-0000-0000-0000-0000000fffff';
    await source.query(
      `INSERT INTO export_destinations (tenant_id, destination_id, destination_type, display_name, config, credentials,
         credentials_keys) VALUES ($1, $2, 's3', 'd', '{}', $3, '{}')`,
      [TENANT, lost, box(randomBytes(32)).seal('lost', SEALED_FIELDS.destinationCredentials.context(TENANT, lost))],
    );
    const rotation = new SecretRotationService(box(next, old), source);
    const [destinations] = await rotation.rotate();
    expect(destinations).toMatchObject({ table: 'export_destinations', rotated: 450, unreadable: 1 });
    const rows: { id: string; sealed: string }[] = await source.query(
      `SELECT destination_id AS id, credentials AS sealed FROM export_destinations WHERE destination_id <> $1`,
      [lost],
    );
    for (const { id, sealed } of rows) {
      expect(box(next).open(sealed, SEALED_FIELDS.destinationCredentials.context(TENANT, id))).toBe(`secret of ${id}`);
    }
    expect((await rotation.rotate())[0]).toMatchObject({ rotated: 0, unreadable: 1 });
  });
});
