import type { DataSource } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import { storedJsonColumn } from '../database/at-rest';
import { BatchedInserts } from '../database/batched-inserts';
import { prepared } from '../patches/pg/prepared-statements';
import { RUN_DUE_CHANNEL, STREAMED } from '../streams/run-event';
import {
  countWaiting,
  INSERTED,
  type Inserted,
  type NewRun,
  ownMetadata,
  RUN_COLUMNS,
  stampOf,
  THREAD_COLUMNS,
  toEntity,
} from './new-run';
import type { RunEntity } from './run.entity';

/** Length of the JSON from which a run is inserted alone, so that others don't wait for it. */
const LARGE = 65_536;

/** A run, inserted by a request of its tenant. */
interface Insert {
  tenantId: TenantId;
  run: NewRun;
  /** JSON of its kwargs. */
  kwargs: string;
}

/** Inserts runs of one tenant ($1) with their threads as long as it has fewer pending runs than the limit ($2). */
const INSERT_WITH_THREADS = prepared(
  'insert-runs-with-threads',
  `WITH given AS (
     SELECT * FROM unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[]::jsonb[], $8::text[], $9::text[],
       $10::float8[], $11::boolean[], $12::text[]::jsonb[], $13::text[]::jsonb[], $14::text[]::jsonb[], $15::boolean[],
       $16::text[], $17::float8[])
     WITH ORDINALITY AS given(run_id, thread_id, assistant_id, graph_id, kwargs, multitask_strategy, webhook,
       delay_ms, is_streamed, metadata, thread_metadata, thread_config, temporary,
       ttl_strategy, ttl_minutes, place)
   ), waiting AS (
     SELECT ${countWaiting('$1', '$2::bigint')} AS runs
   ), thread AS (
     INSERT INTO threads (${THREAD_COLUMNS})
     SELECT thread_id, $1::uuid, 'busy', thread_metadata, thread_config, temporary, ttl_strategy, ttl_minutes
     FROM given, waiting WHERE waiting.runs + place <= $2::bigint
     ON CONFLICT DO NOTHING RETURNING thread_id
   ), inserted AS (
     INSERT INTO runs (${RUN_COLUMNS})
     SELECT run_id, $1::uuid, thread_id, assistant_id, graph_id, kwargs, multitask_strategy, webhook,
       clock_timestamp() + delay_ms * interval '1 millisecond', clock_timestamp(), metadata
     FROM given JOIN thread USING (thread_id)
     RETURNING run_id, ${INSERTED}
   )
   SELECT inserted.*, CASE WHEN delay_ms = 0 THEN
     pg_notify('${RUN_DUE_CHANNEL}', run_id || ' ' || $1 || CASE WHEN is_streamed THEN ' ${STREAMED}' ELSE '' END)
   END FROM inserted JOIN given USING (run_id)`,
);

/** Inserts the runs of requests that arrive together, each with a thread of its own, in one statement. */
export class RunInserts {
  private readonly inserts: BatchedInserts<Insert, RunEntity | undefined>;

  /** @param limit maximum of a tenant's pending runs */
  constructor(
    private readonly database: DataSource,
    private readonly limit: number,
  ) {
    this.inserts = new BatchedInserts((inserts) => this.insertAll(inserts));
  }

  /** Inserts a run with its thread. Resolves to undefined where the thread exists, or the limit is reached. */
  async insertWithThread(tenantId: TenantId, run: NewRun): Promise<RunEntity | undefined> {
    const insert = { tenantId, run, kwargs: JSON.stringify(run.kwargs) };
    return insert.kwargs.length < LARGE ? this.inserts.insert(insert) : (await this.insertAll([insert]))[0];
  }

  private async insertAll(inserts: [Insert, ...Insert[]]): Promise<(RunEntity | undefined)[]> {
    const [{ tenantId }] = inserts;
    const runs = inserts.map(({ run }) => run);
    const kwargs = inserts.map((insert) => insert.kwargs);
    const threadMetadata = runs.map((run) => ({ ...run.metadata, ...stampOf(run) }));
    const configs = runs.map((run) => run.kwargs.config ?? {});
    const metadata = runs.map((run) => ({ ...run.assistantMetadata, ...ownMetadata(run) }));
    const rows = await this.database.query<(Inserted & { run_id: string })[]>(INSERT_WITH_THREADS, [
      ...[tenantId, this.limit],
      ...[runs.map(({ runId }) => runId), runs.map(({ threadId }) => threadId)],
      ...[runs.map(({ assistantId }) => assistantId), runs.map(({ graphId }) => graphId)],
      storedJsonColumn('run', 'kwargs', kwargs),
      ...[runs.map(({ multitaskStrategy }) => multitaskStrategy), runs.map(({ webhook }) => webhook)],
      ...[runs.map(({ delayMs }) => delayMs), runs.map(({ isStreamed }) => isStreamed)],
      storedJsonColumn('run', 'metadata', metadata.map(toJson)),
      storedJsonColumn('thread', 'metadata', threadMetadata.map(toJson)),
      storedJsonColumn('thread', 'config', configs.map(toJson)),
      runs.map(({ thread }) => thread.temporary),
      ...[runs.map(({ thread }) => thread.ttl?.strategy), runs.map(({ thread }) => thread.ttl?.minutes)],
    ]);
    const byId = new Map(rows.map((row) => [row.run_id, row]));
    return runs.map((run, index) => {
      const row = byId.get(run.runId);
      return row && toEntity(tenantId, run, metadata[index], row);
    });
  }
}

const toJson = (value: object): string => JSON.stringify(value);
