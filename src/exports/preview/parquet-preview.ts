import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { type Compressors, parquetMetadataAsync, parquetRead, type SchemaElement } from 'hyparquet';
import type { z } from 'zod';
import type { exportPreviewSchema } from './preview.schemas';

/** Characters of a value that are shown. */
export const SHOWN_CHARACTERS = 1_000;
/** A column is decompressed for all rows of the first row group. One that needs more than this is left out. */
const MAX_COLUMN_BYTES = 64 * 1024 * 1024;

type Preview = Pick<
  z.output<typeof exportPreviewSchema>,
  'compression' | 'row_groups' | 'columns' | 'rows' | 'columns_left_out'
>;
type Value = Preview['rows'][number][string];

/** Node's own decompression; the library has Snappy itself. */
const COMPRESSORS: Compressors = {
  GZIP: (input, maxOutputLength) => gunzipSync(input, { maxOutputLength }),
  ZSTD: (input, maxOutputLength) => zstdDecompressSync(input, { maxOutputLength }),
};

/** Texts remain bytes until the rows that are shown are known. Instants keep their microseconds. */
const PARSERS = {
  stringFromBytes: (bytes: Uint8Array) => bytes,
  timestampFromMicroseconds: (micros: bigint) => instantOf(micros),
};

/** Schema and first rows of a Parquet file that an export wrote, one column at a time. */
export async function previewParquet(bytes: Uint8Array, count: number): Promise<Preview> {
  const file = {
    byteLength: bytes.length,
    slice: (from: number, to = bytes.length) => new Uint8Array(bytes.subarray(from, to)).buffer,
  };
  const metadata = await parquetMetadataAsync(file);
  const [group] = metadata.row_groups;
  const shown = Math.min(count, Number(group?.num_rows ?? 0));
  const rows = Array.from({ length: shown }, (): Record<string, Value> => ({}));
  const leftOut: string[] = [];
  const elements = metadata.schema.filter(({ num_children: children }) => children === undefined);
  for (const { name } of elements) {
    const chunk = group?.columns.find(({ meta_data: data }) => data?.path_in_schema[0] === name)?.meta_data;
    if (chunk && chunk.total_uncompressed_size > MAX_COLUMN_BYTES) {
      leftOut.push(name);
      continue;
    }
    if (shown === 0) continue;
    await parquetRead({
      file,
      metadata,
      columns: [name],
      rowEnd: shown,
      compressors: COMPRESSORS,
      parsers: PARSERS,
      onComplete: (read) => read.forEach(([value], index) => (rows[index][name] = shownValue(value))),
    });
    // Decoding a column doesn't yield: other requests are served in between.
    await new Promise(setImmediate);
  }
  return {
    compression: group?.columns[0]?.meta_data?.codec ?? null,
    row_groups: metadata.row_groups.length,
    columns: elements.map((element) => ({
      name: element.name,
      type: typeName(element),
      nullable: element.repetition_type !== 'REQUIRED',
    })),
    rows,
    columns_left_out: leftOut,
  };
}

function shownValue(value: unknown): Value {
  if (value instanceof Uint8Array) return textOf(value);
  // Only integers up to 2^53 are numbers in JSON for every reader.
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

/** The text, cut with an ellipsis. A character has at most four bytes, so what is decoded is enough for those shown. */
function textOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, (SHOWN_CHARACTERS + 1) * 4));
  if (text.length <= SHOWN_CHARACTERS) return text;
  return `${text.slice(0, SHOWN_CHARACTERS).replace(/[\ud800-\udbff]$/, '')}…`;
}

function instantOf(micros: bigint): string {
  const rest = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = new Date(Number((micros - rest) / 1_000n)).toISOString().slice(0, 19);
  return `${seconds}.${String(rest).padStart(6, '0')}Z`;
}

function typeName({ type, logical_type: logical, converted_type: converted, precision, scale }: SchemaElement): string {
  if (logical?.type === 'TIMESTAMP') return `TIMESTAMP(${logical.unit}${logical.isAdjustedToUTC ? ', UTC' : ''})`;
  if (converted === 'DECIMAL') return `DECIMAL(${precision}, ${scale})`;
  if (converted === 'UTF8' || logical?.type === 'STRING') return 'STRING';
  return type ?? 'UNKNOWN';
}
