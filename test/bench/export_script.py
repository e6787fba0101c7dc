"""The export that one would write without Gantry: a server-side cursor, pyarrow, boto3. For `exports-side-by-side.mjs`.

Prints the rows it wrote. Settings come from the environment: DATABASE_URL, S3 (JSON), PROJECT, DAY, PREFIX.
"""

import io
import json
import os
from datetime import timezone

import boto3
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

ROWS_PER_FILE = 50_000
QUERY = """
SELECT run_id::text, trace_id::text, parent_run_id::text, dotted_order, name, run_type, status, start_time, end_time,
  first_token_time, error, inputs, outputs, extra, events, to_json(tags)::text, to_json(parent_run_ids)::text,
  reference_example_id::text, coalesce(prompt_tokens, 0), coalesce(completion_tokens, 0), coalesce(total_tokens, 0),
  prompt_cost::float8, completion_cost::float8, total_cost::float8, feedback_stats::text, trace_tier, project_id::text,
  tenant_id::text, parent_run_id IS NULL
FROM trace_runs WHERE project_id = %s AND start_time >= %s::timestamptz AND start_time < %s::timestamptz + interval '24 hours'
ORDER BY start_time, run_id
"""
text, instant, number, cost = pa.string(), pa.timestamp("us", tz="UTC"), pa.int64(), pa.float64()
SCHEMA = pa.schema(
    list(
        zip(
            "id trace_id parent_run_id dotted_order name run_type status start_time end_time first_token_time error inputs"
            " outputs extra events tags parent_run_ids reference_example_id prompt_tokens completion_tokens total_tokens"
            " prompt_cost completion_cost total_cost feedback_stats trace_tier session_id tenant_id is_root".split(),
            [text] * 7 + [instant] * 3 + [text] * 8 + [number] * 3 + [cost] * 3 + [text] * 4 + [pa.bool_()],
        )
    )
)


def main() -> None:
    store = json.loads(os.environ["S3"])
    client = boto3.client(
        "s3",
        endpoint_url=store["endpoint"],
        region_name=store["region"],
        aws_access_key_id=store["access_key_id"],
        aws_secret_access_key=store["secret_access_key"],
    )
    written = 0
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection, connection.cursor(name="rows") as cursor:
        connection.execute("SET timezone = 'UTC'")
        cursor.itersize = 5_000
        day = os.environ["DAY"]
        cursor.execute(QUERY, (os.environ["PROJECT"], day, day))
        while rows := cursor.fetchmany(ROWS_PER_FILE):
            columns = list(zip(*rows))
            table = pa.table([pa.array(values, field.type) for values, field in zip(columns, SCHEMA)], schema=SCHEMA)
            buffer = io.BytesIO()
            pq.write_table(table, buffer, compression="zstd")
            client.put_object(
                Bucket=store["bucket"], Key=f"{os.environ['PREFIX']}/part-{written:09}.parquet", Body=buffer.getvalue()
            )
            written += len(rows)
    print(written)


main()
