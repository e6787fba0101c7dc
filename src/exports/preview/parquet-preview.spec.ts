import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { previewParquet } from './parquet-preview';

describe('the preview of a Parquet file', () => {
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gantry-preview-test-'));
  });

  afterAll(() => rm(directory, { recursive: true, force: true }));

  async function parquet(select: string): Promise<Buffer> {
    const path = join(directory, 'preview.parquet');
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    await connection.run(`COPY (${select}) TO '${path}' (FORMAT parquet, COMPRESSION zstd)`);
    connection.closeSync();
    instance.closeSync();
    return readFile(path);
  }

  it('keeps microseconds, nulls and whole numbers beyond 2^53', async () => {
    const file = await parquet(
      `SELECT TIMESTAMPTZ '1969-12-31 23:59:59.999999+00' AS early, NULL::VARCHAR AS missing, 9007199254740993 AS large,
         1.5::DOUBLE AS fraction, true AS flag, '' AS empty`,
    );
    expect((await previewParquet(file, 10)).rows).toEqual([
      {
        early: '1969-12-31T23:59:59.999999Z',
        missing: null,
        large: '9007199254740993',
        fraction: 1.5,
        flag: true,
        empty: '',
      },
    ]);
  });

  it('cuts long texts at a whole character', async () => {
    const file = await parquet(
      `SELECT repeat('🚀', 1000) AS rockets, 'x' || repeat('🚀', 1000) AS odd, repeat('é', 1000) AS fits`,
    );
    const [row] = (await previewParquet(file, 1)).rows;
    expect(row).toEqual({
      rockets: `${'🚀'.repeat(500)}…`,
      odd: `x${'🚀'.repeat(499)}…`,
      fits: 'é'.repeat(1000),
    });
  });

  it('leaves out a column that is too large, however well it is compressed', async () => {
    const file = await parquet(`SELECT n AS id, repeat(md5(n::VARCHAR), 1000000) AS text FROM range(3) t(n)`);
    expect(file.length).toBeLessThan(1024 * 1024);
    const preview = await previewParquet(file, 2);
    expect(preview).toMatchObject({ columns_left_out: ['text'], rows: [{ id: 0 }, { id: 1 }] });
    expect(preview.columns.map(({ name, type }) => [name, type])).toEqual([
      ['id', 'INT64'],
      ['text', 'STRING'],
    ]);
  });

  it('has a schema where there are no rows', async () => {
    const preview = await previewParquet(await parquet(`SELECT 1 AS id WHERE false`), 5);
    expect(preview).toMatchObject({ rows: [], columns: [{ name: 'id', type: 'INT32', nullable: true }] });
  });
});
