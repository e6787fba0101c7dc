import { DuckDBInstance } from '@duckdb/node-api';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportColumns } from './export-columns';
import { ParquetEncoder } from './parquet-encoder';
import type { RowValues } from './trace-reader';

const columns = exportColumns(['id', 'start_time', 'total_cost', 'total_tokens', 'is_root', 'inputs', 'tags']);
const never = new AbortController().signal;

async function* pages(...given: RowValues[][]): AsyncGenerator<RowValues[]> {
  yield* given;
}

/** Columns come in their fixed order: id, inputs, is_root, start_time, tags, total_cost, total_tokens. */
function row(n: number, inputs: string | null = `{"n": ${n}}`): RowValues {
  return [`id ${n}`, inputs, n % 2 === 0, String(1_795_219_200_000_001n + BigInt(n)), null, n / 3, '9007199254740993'];
}

describe('the Parquet encoder', () => {
  const encoder = new ParquetEncoder();
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gantry-encoder-test-'));
  });

  afterAll(async () => {
    await encoder.onModuleDestroy();
    await rm(directory, { recursive: true, force: true });
  });

  async function read(file: Buffer, sql: string) {
    const path = join(directory, 'read.parquet');
    await writeFile(path, file);
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    try {
      return (await connection.runAndReadAll(sql.replace('FILE', `'${path}'`))).getRows();
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  }

  it('writes the same bytes for the same rows, however they are paged', async () => {
    const rows = Array.from({ length: 5_000 }, (_, n) => row(n));
    const whole = await encoder.encode(columns, pages(rows), 'zstandard', never);
    const again = await new ParquetEncoder().encode(columns, pages(rows), 'zstandard', never);
    expect(again.file.equals(whole.file)).toBe(true);
    const halves = await encoder.encode(columns, pages(rows.slice(0, 2_048), rows.slice(2_048)), 'zstandard', never);
    expect(halves.file.equals(whole.file)).toBe(true);
    expect(whole.rows).toBe(5_000);
  });

  it('keeps large text, emoji, whole numbers beyond 2^53 and microseconds', async () => {
    const large = `"${'🚀'.repeat(2_621_440)}"`;
    const { file } = await encoder.encode(columns, pages([row(0, large), row(1, null)]), 'zstandard', never);
    const rows = await read(file, 'SELECT inputs, total_tokens, epoch_us(start_time), total_cost FROM FILE');
    expect(rows).toEqual([
      [large, 9_007_199_254_740_993n, 1_795_219_200_000_001n, 0],
      [null, 9_007_199_254_740_993n, 1_795_219_200_000_002n, 1 / 3],
    ]);
  });

  it('has a schema of its own when every value is null', async () => {
    const nothing = columns.map(() => null);
    const { file } = await encoder.encode(columns, pages([nothing]), 'none', never);
    const described = await read(
      file,
      `SELECT name, coalesce(logical_type, converted_type, type) FROM parquet_schema(FILE) WHERE num_children IS NULL`,
    );
    expect(Object.fromEntries(described as [string, string][])).toMatchObject({
      id: 'UTF8',
      start_time: expect.stringMatching(/Timestamp.*isAdjustedToUTC=1.*MICROS/),
      total_cost: 'DOUBLE',
      is_root: 'BOOLEAN',
    });
  });

  it('stops when it is told to', async () => {
    const stop = new AbortController();
    async function* endless(): AsyncGenerator<RowValues[]> {
      for (let page = 0; ; page += 1) {
        if (page === 3) stop.abort(new Error('stopped'));
        if (page > 10) throw new Error('still reading');
        stop.signal.throwIfAborted();
        yield Array.from({ length: 2_048 }, (_, n) => row(n));
      }
    }
    await expect(encoder.encode(columns, endless(), 'zstandard', stop.signal)).rejects.toThrow('stopped');
  });
});
