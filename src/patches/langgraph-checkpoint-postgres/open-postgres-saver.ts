/**
 * @library @langchain/langgraph-checkpoint-postgres 1.0.5
 * @patch Replaces the private `SQL_STATEMENTS.SELECT_SQL`, and calls and overrides the protected `_dump…` and `_load…` methods.
 * @why The library's SELECT reads all values of a thread for each of its checkpoints, its writes are several statements that can't
 * be fenced, and it reads checkpoints only from the database. What is replaced keeps the library's tables and encoding.
 * @upstream https://github.com/langchain-ai/langgraphjs/issues/1812
 * @remove When the library selects the values of one checkpoint by their keys and can be given the statements that write.
 */
import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from '@langchain/langgraph-checkpoint';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';

/** Text that the library adds to its SELECT to read the newest checkpoint of a thread, character by character. */
export const WHERE_NEWEST = whereListed(1);

/**
 * Text that the library adds to its SELECT to list the checkpoints of a thread, character by character.
 * @param before whether they are those before a given checkpoint
 */
export function whereListed(limit: number, before?: 'before'): string {
  const earlier = before ? ' AND checkpoint_id < $3' : '';
  return `WHERE thread_id = $1 AND checkpoint_ns = $2${earlier} ORDER BY checkpoint_id DESC LIMIT ${limit}`;
}

/** A checkpoint of a thread's root graph, as its rows have it. */
export interface StoredCheckpoint {
  id: string;
  parent: string | null;
  checkpoint: Omit<Checkpoint, 'channel_values'>;
  metadata: Record<string, unknown>;
  /** The values of its channels, encoded; null for a channel without one. */
  values: { channel: string; type: string; blob: Buffer | null }[];
}

/** The library's Postgres saver, with the parts that Gantry replaces within reach of subclasses. */
export abstract class OpenPostgresSaver extends PostgresSaver {
  /** @param statement a SELECT without WHERE, with the columns of the library's own, ending in a space */
  protected selectBy(statement: string): void {
    // The only place that all of the library's reads have in common.
    const { SQL_STATEMENTS: statements } = this as unknown as { SQL_STATEMENTS: { SELECT_SQL: string } };
    statements.SELECT_SQL = statement;
  }

  /** Rows of `checkpoint_blobs` as the library writes them. */
  protected blobRows(threadId: string, ns: string, values: Record<string, unknown>, versions: ChannelVersions) {
    return super._dumpBlobs(threadId, ns, values, versions);
  }

  /** The values of rows of `checkpoint_blobs`, as they are stored. */
  protected abstract blobsToStore(blobs: (Uint8Array | undefined)[]): Promise<(Uint8Array | undefined)[]>;

  override async _dumpBlobs(threadId: string, ns: string, values: Record<string, unknown>, versions: ChannelVersions) {
    const rows = await super._dumpBlobs(threadId, ns, values, versions);
    const blobs = await this.blobsToStore(rows.map((row) => row[5]));
    return rows.map(([thread, namespace, channel, version, type], index): (typeof rows)[number] => {
      return [thread, namespace, channel, version, type, blobs[index]];
    });
  }

  /** Result of reading a checkpoint of a thread's root graph that has no writes of tasks, without the database. */
  protected async tupleOf(threadId: string, stored: StoredCheckpoint): Promise<CheckpointTuple> {
    const configOf = (id: string): RunnableConfig => ({
      configurable: { thread_id: threadId, checkpoint_ns: '', checkpoint_id: id },
    });
    const values = stored.values.map(({ channel, type, blob }): [Buffer, Buffer, Buffer] => {
      return [Buffer.from(channel), Buffer.from(type), Buffer.from(blob ?? '')];
    });
    return {
      config: configOf(stored.id),
      checkpoint: await this._loadCheckpoint(stored.checkpoint, values),
      metadata: await this._loadMetadata(stored.metadata),
      ...(stored.parent !== null && { parentConfig: configOf(stored.parent) }),
      pendingWrites: [],
    };
  }

  /** Rows of `checkpoint_writes` as the library writes them. */
  protected writeRows(threadId: string, ns: string, checkpointId: string, taskId: string, writes: PendingWrite[]) {
    return this._dumpWrites(threadId, ns, checkpointId, taskId, writes);
  }

  /** The column `checkpoint` as the library writes it. */
  protected checkpointColumn(checkpoint: Checkpoint): Record<string, unknown> {
    return this._dumpCheckpoint(checkpoint);
  }

  /** The column `metadata`, as it is stored. */
  protected abstract metadataToStore(metadata: CheckpointMetadata): Promise<unknown>;

  override _dumpMetadata(metadata: CheckpointMetadata): Promise<unknown> {
    return this.metadataToStore(metadata);
  }

  /** Metadata are JSON: they are read as they are in the column. */
  override async _loadMetadata(metadata: Record<string, unknown>): Promise<CheckpointMetadata> {
    return metadata as unknown as CheckpointMetadata;
  }
}
