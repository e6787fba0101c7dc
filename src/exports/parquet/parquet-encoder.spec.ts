import { existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { type CostType, exportColumns, readColumns } from './export-columns';
import { type OpenEncoder, ParquetEncoder } from './parquet-encoder';

const choose = (exportFields: string[], costType: CostType = 'double') =>
  exportColumns({ tenantId: 'tenant', sessionId: "it's mine", exportFields, costType });

const columns = choose(['id', 'start_time', 'total_cost', 'total_tokens', 'is_root', 'inputs', 'tags']);
const never = new AbortController().signal;

type Values = (string | null)[];

/** As rows are read: start_time, id, inputs, is_root, tags, total_cost, total_tokens. */
function row(n: number, inputs: string | null = `{"n": ${n}}`): Values {
  const micros = String(n + 1)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return [
    `2026-11-21 00:00:00.${micros}+00`,
    `id ${n}`,
    inputs,
    n % 2 === 0 ? 't' : 'f',
    null,
    String(n / 3),
    '9007199254740993',
  ];
}

const LETTERS: Record<string, string> = {
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '\\': '\\',
};

/** As PostgreSQL writes it. */
function text(rows: Values[]): string {
  // eslint-disable-next-line no-control-regex
  const field = (value: string | null) => value?.replace(/[\x08-\x0d\\]/g, (one) => `\\${LETTERS[one]}`) ?? '\\N';
  return rows.map((values) => `${values.map(field).join('\t')}\n`).join('');
}

/** @returns the path */
async function spool(encoder: ParquetEncoder, ...pieces: string[]): Promise<string> {
  const { path } = await encoder.spool(async (append) => {
    for (const piece of pieces) await append(Buffer.from(piece));
  });
  return path;
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

  async function encode(rows: Values[], using = encoder, given = columns): Promise<Buffer> {
    const pieces = rows.map((one) => text([one]));
    const path = await spool(using, ...pieces);
    const rowBytes = Math.max(...pieces.map((piece) => Buffer.byteLength(piece)));
    return using.encode(given, { path, rows: rows.length, rowBytes }, 'zstandard', never);
  }

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

  it('begins after a failure to begin, once its cause is gone', async () => {
    class FullDiskAtFirst extends ParquetEncoder {
      private isFull = true;

      protected override async create(): Promise<OpenEncoder> {
        if (this.isFull) throw new Error('no space left on device');
        return super.create();
      }

      clear(): void {
        this.isFull = false;
      }
    }
    const other = new FullDiskAtFirst();
    await expect(encode([row(1)], other)).rejects.toThrow('no space left on device');
    other.clear();
    expect((await encode([row(1)], other)).length).toBeGreaterThan(0);
    await other.onModuleDestroy();
  });

  it('writes the same bytes for the same rows', async () => {
    const rows = Array.from({ length: 25_000 }, (_, n) => row(n));
    const first = await encode(rows);
    const other = new ParquetEncoder();
    const again = await encode(rows, other);
    await other.onModuleDestroy();
    expect(again.equals(first)).toBe(true);
    expect(await read(first, 'SELECT count(*) FROM FILE')).toEqual([[25_000n]]);
  });

  it('keeps large text, emoji, line breaks, whole numbers beyond 2^53 and microseconds', async () => {
    const large = `"${'🚀'.repeat(2_621_440)}"`;
    const broken = 'a\r\nb\n"c",\t\v\f\b\u0001\\N,\\.\\\\n\\';
    const file = await encode([row(0, large), row(1, null), row(2, ''), row(3, broken), row(4, '\\.'), row(5, '\\N')]);
    const rows = await read(file, 'SELECT inputs, total_tokens, epoch_us(start_time), total_cost FROM FILE');
    const tokens = 9_007_199_254_740_993n;
    expect(rows).toEqual([
      [large, tokens, 1_795_219_200_000_001n, 0],
      [null, tokens, 1_795_219_200_000_002n, 1 / 3],
      ['', tokens, 1_795_219_200_000_003n, 2 / 3],
      [broken, tokens, 1_795_219_200_000_004n, 1],
      ['\\.', tokens, 1_795_219_200_000_005n, 4 / 3],
      ['\\N', tokens, 1_795_219_200_000_006n, 5 / 3],
    ]);
  });

  it('handles rows of 100 MB', async () => {
    const file = await encode([row(0), row(1, 'x'.repeat(100 * 1024 * 1024)), row(2)]);
    expect(await read(file, 'SELECT length(inputs) FROM FILE')).toEqual([[8n], [104_857_600n], [8n]]);
  });

  it('has an explicit schema when every value is null', async () => {
    const file = await encode([readColumns(columns).map(() => null)]);
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

  it('writes costs as decimals on request', async () => {
    const decimals = choose(['id', 'total_cost'], 'decimal');
    const file = await encode(
      [
        [null, 'a', '0.100000000001'],
        [null, 'b', '99999999999999.000000000001'],
      ],
      encoder,
      decimals,
    );
    expect(await read(file, 'SELECT typeof(total_cost), total_cost::VARCHAR FROM FILE')).toEqual([
      ['DECIMAL(38,12)', '0.100000000001'],
      ['DECIMAL(38,12)', '99999999999999.000000000001'],
    ]);
  });

  it('writes arrays of ids as JSON, as Postgres would', async () => {
    const lists = choose(['id', 'parent_run_ids']);
    const given = ['{}', '{a1}', '{a1,b2,c3}', null];
    const file = await encode(
      given.map((ids, index): Values => [null, `id ${index}`, ids]),
      encoder,
      lists,
    );
    expect(await read(file, 'SELECT parent_run_ids FROM FILE ORDER BY id')).toEqual([
      ['[]'],
      ['["a1"]'],
      ['["a1","b2","c3"]'],
      [null],
    ]);
  });

  it('writes columns that are constant for all rows without reading them from the rows', async () => {
    const given = choose(['id', 'session_id']);
    const file = await encode(
      [
        [null, 'a'],
        [null, 'b'],
      ],
      encoder,
      given,
    );
    expect(await read(file, 'SELECT id, session_id FROM FILE')).toEqual([
      ['a', "it's mine"],
      ['b', "it's mine"],
    ]);
  });

  it('reports an unreadable row without quoting its content', async () => {
    const path = await spool(encoder, `${Array.from({ length: 7 }, () => 'secret').join('\t')}\n`);
    const failure = await encoder
      .encode(columns, { path, rows: 1, rowBytes: 100 }, 'zstandard', never)
      .then(String, String);
    expect(failure).toMatch(/CSV Error/);
    expect(failure).not.toContain('secret');
  });

  it('reports a failure of the disk by its code, without a path', async () => {
    const other = new ParquetEncoder();
    const path = await spool(other);
    await rm(dirname(path), { recursive: true });
    const failure = await spool(other).then(String, String);
    expect(failure).toBe("EncodingError: the worker's disk failed (ENOENT)");
    await other.onModuleDestroy();
  });

  it('reports in the same way that the rows of a part are gone', async () => {
    const other = new ParquetEncoder();
    const path = await spool(other, text([row(1)]));
    await rm(dirname(path), { recursive: true });
    const part = { path, rows: 1, rowBytes: 100 };
    const failure = await other.encode(columns, part, 'zstandard', never).then(String, String);
    expect(failure).toBe("EncodingError: the worker's disk failed (ENOENT)");
    await other.onModuleDestroy();
  });

  it('reports a file that DuckDB can not write without its path', async () => {
    const path = await spool(encoder, text([row(1)]));
    await symlink(join(directory, 'nowhere', 'file'), `${path}.parquet`);
    const part = { path, rows: 1, rowBytes: 100 };
    const failure = await encoder.encode(columns, part, 'zstandard', never).then(String, String);
    expect(failure).toMatch(/^EncodingError: .*…\/part_/);
    expect(failure).not.toContain(tmpdir());
  });

  it('fails when rows are missing', async () => {
    const path = await spool(encoder, text([row(1)]));
    await expect(encoder.encode(columns, { path, rows: 2, rowBytes: 100 }, 'zstandard', never)).rejects.toThrow(
      '1 of 2 rows',
    );
  });

  it('stops when it is aborted, and leaves no file', async () => {
    const own = new ParquetEncoder();
    const stop = new AbortController();
    const rows = Array.from({ length: 200_000 }, (_, n) => row(n));
    const path = await spool(own, text(rows));
    const encoding = own.encode(columns, { path, rows: 200_000, rowBytes: 200 }, 'gzip', stop.signal);
    setImmediate(() => stop.abort(new Error('stopped')));
    await expect(encoding).rejects.toThrow('stopped');
    const failed = own.spool(async (append) => {
      await append(Buffer.from('half a row'));
      throw new Error('connection lost');
    });
    await expect(failed).rejects.toThrow('connection lost');
    expect((await readdir(join(path, '..'))).filter((name) => name.startsWith('part_'))).toEqual([]);
    await own.onModuleDestroy();
  });

  it('removes what a killed process with the same id left, and nothing of this one', async () => {
    const left = join(tmpdir(), `gantry-export-${hostname().replaceAll('-', '')}-${process.pid}-killed`);
    mkdirSync(left);
    const kept = await spool(encoder, text([row(1)]));
    const other = new ParquetEncoder();
    await spool(other, text([row(1)]));
    await other.onModuleDestroy();
    expect([existsSync(left), existsSync(kept)]).toEqual([false, true]);
    await encoder.discard(kept);
  });
});
