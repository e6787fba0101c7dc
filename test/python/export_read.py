"""Reads an exported data set with pyarrow and prints it as JSON lines: {"schema": …}, then one object a row.

usage: export_read.py DIRECTORY [--hive]
"""

import json
import sys
from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def plain(value):
    if isinstance(value, datetime):
        assert value.tzinfo is not None, "a timestamp without a time zone"
        epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
        delta = value - epoch
        return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
    return value


def main() -> None:
    files = sorted(Path(sys.argv[1]).rglob("*.parquet"))
    tables = [pq.ParquetFile(file).read() for file in files]
    schema = tables[0].schema
    for table in tables:
        assert table.schema.equals(schema), "schemas differ between files"
    codecs = {
        pq.ParquetFile(file).metadata.row_group(0).column(0).compression
        for file in files
        if pq.ParquetFile(file).metadata.num_row_groups
    }
    print(json.dumps({"schema": {f.name: str(f.type) for f in schema}, "codecs": sorted(codecs), "files": len(files)}))
    for row in pa.concat_tables(tables).to_pylist():
        print(json.dumps({name: plain(value) for name, value in row.items()}))


main()
