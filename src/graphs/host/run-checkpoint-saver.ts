import type { RunnableConfig } from '@langchain/core/runnables';
import type { ChannelVersions, Checkpoint, CheckpointMetadata, PendingWrite } from '@langchain/langgraph-checkpoint';
import { WRITES_IDX_MAP } from '@langchain/langgraph-checkpoint';
import type { Pool } from 'pg';
import { prepared } from '../../database/prepared-statements';
import { CHECKPOINT_SCHEMA } from '../../database/schemas';
import { type Fence, FencedError, HOLDS_RUN } from './fence';
import { ForkSafeSaver } from './fork-safe-saver';

/** Thrown behind a written checkpoint, to stop a graph there: the next step is another worker's. */
export class HandedBack extends Error {
  /** @param inDoubt whether it stopped inside a nested graph, whose siblings may have been at work */
  constructor(readonly inDoubt: boolean) {
    super('The run was handed back at its checkpoint');
    this.name = 'HandedBack';
  }
}

/** How the worker gives a run away. */
export interface HandBack {
  isWanted: () => boolean;
  /** Resolves when every event of the steps so far has been read: stopping the graph drops what is still queued. */
  untilRead: () => Promise<void>;
}

const schema = `"${CHECKPOINT_SCHEMA}"`;

const PUT_CHECKPOINT = prepared(
  'put-checkpoint',
  `
  WITH fence AS MATERIALIZED (${HOLDS_RUN}),
  blobs AS (
    INSERT INTO ${schema}.checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    SELECT $3, $4, blob.* FROM unnest($5::text[], $6::text[], $7::text[], $8::bytea[]) AS blob
    WHERE EXISTS (SELECT 1 FROM fence)
    ON CONFLICT (thread_id, checkpoint_ns, channel, version) DO NOTHING
  )
  INSERT INTO ${schema}.checkpoints
    (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
  SELECT $3, $4, $9, $10, $11::jsonb, $12::jsonb WHERE EXISTS (SELECT 1 FROM fence)
  ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id)
  DO UPDATE SET checkpoint = EXCLUDED.checkpoint, metadata = EXCLUDED.metadata`,
);

const putWrites = (onConflict: string): string => `
  WITH fence AS MATERIALIZED (${HOLDS_RUN}),
  written AS (
    INSERT INTO ${schema}.checkpoint_writes
      (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
    SELECT $3, $4, $5, $6, write.* FROM unnest($7::int[], $8::text[], $9::text[], $10::bytea[]) AS write
    WHERE EXISTS (SELECT 1 FROM fence)
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) ${onConflict}
  )
  SELECT 1 FROM fence`;

const INSERT_WRITES = prepared('insert-writes', putWrites('DO NOTHING'));
const UPSERT_WRITES = prepared(
  'upsert-writes',
  putWrites('DO UPDATE SET channel = EXCLUDED.channel, type = EXCLUDED.type, blob = EXCLUDED.blob'),
);

/**
 * LangGraph's Postgres saver with the two writes of a run replaced: each is one statement instead of a transaction of
 * several, and each is refused once another attempt holds the run. Tables, encoding and all reads are the library's.
 */
export class RunCheckpointSaver extends ForkSafeSaver {
  private readonly open = new Set<Promise<void>>();

  constructor(
    private readonly connections: Pool,
    private readonly fence: Fence,
    /** Kept with every checkpoint of the run: who made it, and the user's own metadata. */
    private readonly runMetadata: Record<string, unknown>,
    /** Asked behind each checkpoint. */
    private readonly handBack: HandBack,
  ) {
    super(connections);
  }

  /** Resolves when what was given to be written so far is committed: only then may anybody be told of it. */
  async written(): Promise<void> {
    await Promise.all(this.open);
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread_id, checkpoint_ns = '' } = config.configurable as Record<string, string>;
    await this.track(this.writeCheckpoint(config, checkpoint, metadata, newVersions));
    if (this.handBack.isWanted()) {
      await this.handBack.untilRead();
      throw new HandedBack(checkpoint_ns !== '');
    }
    return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } };
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    if (writes.length > 0) await this.track(this.writeWrites(config, writes, taskId));
  }

  private async track(writing: Promise<void>): Promise<void> {
    this.open.add(writing);
    try {
      await writing;
    } finally {
      this.open.delete(writing);
    }
  }

  private async writeCheckpoint(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<void> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable as Record<string, string>;
    const [blobs, serializedMetadata] = await Promise.all([
      this._dumpBlobs(thread_id, checkpoint_ns, checkpoint.channel_values, newVersions),
      this._dumpMetadata({ ...this.runMetadata, ...metadata }) as Promise<unknown>,
    ]);
    const column = <T>(index: number): T[] => blobs.map((blob) => blob[index] as T);
    await this.write(PUT_CHECKPOINT, [
      thread_id,
      checkpoint_ns,
      column<string>(2),
      column<string>(3),
      column<string>(4),
      column<Uint8Array | undefined>(5).map((blob) => (blob ? Buffer.from(blob) : null)),
      checkpoint.id,
      checkpoint_id ?? null,
      JSON.stringify(this._dumpCheckpoint(checkpoint)),
      JSON.stringify(serializedMetadata),
    ]);
  }

  private async writeWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable as Record<string, string>;
    const rows = await this._dumpWrites(thread_id, checkpoint_ns, checkpoint_id, taskId, writes);
    const special = writes.every(([channel]) => channel in WRITES_IDX_MAP);
    await this.write(special ? UPSERT_WRITES : INSERT_WRITES, [
      thread_id,
      checkpoint_ns,
      checkpoint_id,
      taskId,
      rows.map((row) => row[4]),
      rows.map((row) => row[5]),
      rows.map((row) => row[6]),
      rows.map((row) => Buffer.from(row[7])),
    ]);
  }

  private async write(statement: string, values: unknown[]): Promise<void> {
    const { runId, attempt } = this.fence;
    const { rowCount } = await this.connections.query(statement, [runId, attempt, ...values]);
    if (rowCount === 0) throw new FencedError(this.fence);
  }
}
