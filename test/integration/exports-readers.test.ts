import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { ExportHarness, Json, TENANT } from '../support/export-harness';
import { runPython } from '../support/python';

const DAYS = ['2026-09-07', '2026-11-20'];
const WINDOW = { start_time: '2026-09-07T00:00:00Z', end_time: '2026-11-21T00:00:00Z' };

let harness: ExportHarness;

beforeAll(async () => {
  harness = await ExportHarness.start({ GANTRY_EXPORT_PART_ROWS: '40' });
});

afterAll(async () => {
  await harness?.stop();
});

/** Nulls, empty lists, emoji, NUL, line breaks, quotes, whole numbers beyond 2^53, microseconds. */
async function createRuns(project: string, day: string): Promise<void> {
  await harness.createRuns(project, day, 60);
  await harness.database.query(
    `UPDATE trace_runs SET name = 'naïve 🚀 ' || total_tokens, prompt_tokens = 9007199254740993,
       tags = CASE total_tokens % 3 WHEN 0 THEN NULL WHEN 1 THEN '{}'::text[] ELSE ARRAY['a"b', 'ü,'] END,
       inputs = CASE total_tokens % 4 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE '{"nul": "\\u0000", "n": 9007199254740993, "n": 2}' END,
       error = CASE WHEN total_tokens % 5 = 0 THEN E'Error: "quoted"\\r\\n\\ttab, \\\\N' END, total_cost = total_tokens / 3.0
     WHERE project_id = $1 AND start_time >= $2::timestamptz`,
    [project, `${day} 00:00:00+00`],
  );
}

async function exportAll(compression: string): Promise<{ project: string; root: string; id: string }> {
  const project = await harness.createProject();
  for (const day of DAYS) await createRuns(project, day);
  const destination = await harness.createDestination();
  const { id } = await harness.createExport({
    bulk_export_destination_id: destination.id,
    session_id: project,
    compression,
    ...WINDOW,
  });
  expect(await harness.ended(id)).toMatchObject({ status: 'Completed', progress: { rows_written: 120 } });
  return { project, id, root: await harness.bucket.download(`${destination.config.prefix}/export_id=${id}`) };
}

async function files(root: string): Promise<string[]> {
  const names = await readdir(root, { recursive: true });
  return names.filter((name) => name.endsWith('.parquet')).map((name) => join(root, name));
}

it.each(['zstandard', 'gzip', 'snappy', 'none'])(
  'exports are read by a reader without Arrow (%s)',
  async (compression) => {
    const { project, root } = await exportAll(compression);
    const read: Json[] = [];
    for (const path of await files(root)) {
      const { buffer, byteOffset, byteLength } = await readFile(path);
      const file = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
      // A Date would drop the microseconds.
      const parsers = { timestampFromMicroseconds: (value: bigint) => value };
      read.push(...((await parquetReadObjects({ file, compressors, parsers: parsers as never })) as Json[]));
    }
    const { rows } = await harness.database.query<Json>(
      `SELECT run_id AS id, name, inputs, error, to_json(tags)::text AS tags, prompt_tokens::text, total_tokens::text,
       total_cost::float8, (extract(epoch FROM start_time) * 1000000)::bigint::text AS start_time, parent_run_id IS NULL AS is_root
     FROM trace_runs WHERE project_id = $1 ORDER BY run_id`,
      [project],
    );
    const seen = read
      .map((row) => ({
        id: row.id as string,
        name: row.name as string,
        inputs: (row.inputs ?? null) as string | null,
        error: (row.error ?? null) as string | null,
        tags: (row.tags ?? null) as string | null,
        prompt_tokens: String(row.prompt_tokens),
        total_tokens: String(row.total_tokens),
        total_cost: row.total_cost as number,
        start_time: String(row.start_time),
        is_root: row.is_root as boolean,
      }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(seen).toEqual(rows);
  },
);

it('exports are read as Hive partitions by DuckDB and pyarrow, with the dates as numbers', async () => {
  const { id, root } = await exportAll('zstandard');
  const rows = await harness.read(await prefixOf(id), PARTITIONS);
  expect(rows).toEqual([
    { year: '2026', month: '9', day: '7', type: 'BIGINT', rows: 60 },
    { year: '2026', month: '11', day: '20', type: 'BIGINT', rows: 60 },
  ]);
  const script = `
import json, sys
import pyarrow.dataset as ds
data = ds.dataset(sys.argv[1], format="parquet", partitioning="hive", exclude_invalid_files=True)
table = data.to_table(filter=(ds.field("month") == 9) & (ds.field("day") == 7))
print(json.dumps([table.num_rows, str(data.schema.field("year").type)]))`;
  const output = await runPython(['-c', script, root]);
  expect(JSON.parse(output)).toEqual([60, 'int32']);
});

const PARTITIONS = `SELECT year, month, day, typeof(month) AS type, count(*)::int AS rows FROM HIVE_FILES
  GROUP BY ALL ORDER BY month, day`;

async function prefixOf(id: string): Promise<string> {
  const [run] = await harness.runs(id);
  const path = run.metadata.result.export_path as string;
  expect(path).toContain(`tenant_id=${TENANT}`);
  return path.slice(path.indexOf('/') + 1, path.indexOf('/tenant_id='));
}
