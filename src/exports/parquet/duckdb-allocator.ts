/**
 * DuckDB's allocator (jemalloc) keeps freed memory for each thread that asked for it, and parts are encoded on whichever
 * of Node's threads is free. One arena for all of them holds it once. Read by the library when it is loaded, so this comes
 * before its import; where DuckDB is built without jemalloc it has no effect.
 */
process.env.DUCKDB_JE_MALLOC_CONF ??= 'narenas:1';
