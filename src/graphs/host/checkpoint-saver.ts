import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointPendingWrite,
  CheckpointTuple,
  DeltaChannelHistory,
  PendingWrite,
} from '@langchain/langgraph-checkpoint';
import { setImmediate } from 'node:timers/promises';
import { escapeLiteral, type Pool } from 'pg';
import { storedBytes, storedObject } from '../../database/at-rest';
import { checkpointKey, threadOfKey } from '../../database/checkpoint-key';
import { endedTasks } from '../../patches/langgraph/graph-internals';
import {
  OpenPostgresSaver,
  WHERE_NEWEST,
  whereListed,
} from '../../patches/langgraph-checkpoint-postgres/open-postgres-saver';
import { prepared } from '../../patches/pg/prepared-statements';
import { storableJson } from '../../database/storable-text';
import { CHECKPOINT_SCHEMA } from '../../database/schemas';
import { CheckpointSerializer } from './checkpoint-serializer';
import { OtherLanguage } from './other-language';
import { replacesKnown, storeRows, WRITE_ORDER, type WriteRow } from './checkpoint-writes';
import { readDeltaHistory } from './delta-history';
import type { Connections, PoolPart } from './tenant-connections';
import { toWireJson } from './wire-json';

type DeltaQuery = Parameters<OpenPostgresSaver['getDeltaChannelHistory']>[0];

const schema = `"${CHECKPOINT_SCHEMA}"`;

/**
 * Same result as the library's statement, which joins a checkpoint with all values of its thread, so each read takes longer on
 * a longer thread. The limit, which removes no rows, makes Postgres look up each value by its key.
 */
const selecting = (isRead: (channel: string) => string): string => `
  SELECT thread_id, checkpoint, checkpoint_ns, checkpoint_id, parent_checkpoint_id, metadata,
    (
      SELECT array_agg(array[value.channel::bytea, value.type::bytea, value.blob])
      FROM jsonb_each_text(checkpoint -> 'channel_versions') AS current (channel, version)
      CROSS JOIN LATERAL (
        SELECT channel, type, blob FROM ${schema}.checkpoint_blobs stored
        WHERE stored.thread_id = saved.thread_id AND stored.checkpoint_ns = saved.checkpoint_ns
          AND stored.channel = current.channel AND stored.version = current.version
        LIMIT 1
      ) AS value
      WHERE ${isRead('current.channel')}
    ) AS channel_values,
    (
      SELECT array_agg(
        array[pending.task_id::bytea, pending.channel::bytea, pending.type::bytea, pending.blob]
        ORDER BY ${WRITE_ORDER}
      )
      FROM ${schema}.checkpoint_writes pending
      WHERE pending.thread_id = saved.thread_id AND pending.checkpoint_ns = saved.checkpoint_ns
        AND pending.checkpoint_id = saved.checkpoint_id AND ${isRead('pending.channel')}
    ) AS pending_writes
  FROM ${schema}.checkpoints saved `;
const SELECT = selecting(() => 'true');

// The read of every run.
prepared('newest-checkpoint', SELECT + WHERE_NEWEST);

/** Checkpoints that one statement reads. */
const PAGE = 100;
prepared('newest-checkpoints', SELECT + whereListed(PAGE));
prepared('earlier-checkpoints', SELECT + whereListed(PAGE, 'before'));

/**
 * LangGraph's Postgres saver for long threads, and with versions of channels that no two branches of a thread share. The
 * library counts 1, 2, 3, and stores values by (thread, channel, version) without overwriting: a branch that forks from an
 * earlier checkpoint uses the same numbers again and would read the values of the earlier branch.
 *
 * It also stores the paths of the tasks that wrote, for which the library's own tables have no column.
 *
 * Graphs and callers see the thread ids of their tenant; in the tables the ids include the tenant (checkpointKey).
 */
export class CheckpointSaver extends OpenPostgresSaver {
  /** Version given to all channels of one step, by which the library distinguishes nodes of one step from later ones. */
  private readonly given = new Map<number, number>();
  private channels: ReadonlySet<string> | undefined;
  /** Ids of the tasks that have ended, of the checkpoints that have been read. */
  readonly ended = new Set<string>();

  /** @param graphFile the module of the graph whose states these are */
  constructor(
    protected readonly connections: Connections,
    protected readonly tenantId: string,
    graphFile?: string,
  ) {
    super(connections as PoolPart as Pool, new CheckpointSerializer(graphFile), { schema: CHECKPOINT_SCHEMA });
    this.selectBy(SELECT);
  }

  /** Restricts reads to these channels of checkpoints. Nothing may be written from such checkpoints. */
  readOnly(channels: string[]): void {
    this.channels = new Set(channels);
    const literals = channels.map((channel) => escapeLiteral(channel)).join(', ');
    this.selectBy(selecting((channel) => `${channel} = ANY(ARRAY[${literals}]::text[])`));
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const tuple = await super.getTuple(this.stored(config));
    return tuple && this.shown(tuple);
  }

  /** Postgres reads the next page while the graph process works on this one. */
  override async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    let left = options.limit ?? Infinity;
    let page = await this.page(config, options, left);
    for (;;) {
      left -= page.length;
      const before = page.length === PAGE && left > 0 ? page[PAGE - 1].config : undefined;
      const next = before && seenLater(this.page(config, { ...options, before }, left));
      // Only the event loop sends the statement; what follows are promises without a pause for it.
      if (next) await setImmediate();
      for (const tuple of page) yield this.shown(tuple);
      if (!next) return;
      page = await next;
    }
  }

  private page(config: RunnableConfig, options: CheckpointListOptions, left: number): Promise<CheckpointTuple[]> {
    return Array.fromAsync(super.list(this.stored(config), { ...options, limit: Math.min(left, PAGE) }));
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return this.shownConfig(await super.put(this.stored(config), checkpoint, metadata, newVersions));
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath?: string,
  ): Promise<void> {
    const { thread_id } = config.configurable as { thread_id: string };
    await storeRows(this.connections, {
      threadKey: this.keyOf(thread_id),
      rows: { blobs: [], writes: await this.rowsOfWrites(config, writes, taskId, taskPath), checkpoints: [] },
      replacesWrites: replacesKnown(writes),
    });
  }

  /** @param taskPath '' for writes that come from no task of the graph: inputs, answers, edits */
  protected async rowsOfWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = '',
  ): Promise<WriteRow[]> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable as Record<string, string>;
    const rows = await this.writeRows(thread_id, checkpoint_ns, checkpoint_id, taskId, writes);
    return rows.map(([, , , , index, channel, type, blob]): WriteRow => {
      return [checkpoint_ns, checkpoint_id, taskId, taskPath, index, channel, type, Buffer.from(blob)];
    });
  }

  /** The library's own reads each ancestor by itself. */
  override async getDeltaChannelHistory({
    config,
    channels: asked,
  }: DeltaQuery): Promise<Record<string, DeltaChannelHistory>> {
    const channels = asked.filter((channel) => this.channels?.has(channel) ?? true);
    if (channels.length === 0) return {};
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable as Record<string, string>;
    const key = this.keyOf(thread_id);
    const read = await readDeltaHistory(this.connections, key, checkpoint_ns, checkpoint_id, channels);
    const histories = [...read].map(async ([channel, { seed, writes }]) => {
      const history: DeltaChannelHistory = {
        ...(seed && { seed: await this.serde.loadsTyped(seed.type, seed.blob) }),
        writes: await Promise.all(
          writes.map(async ({ task_id: task, type, blob }): Promise<CheckpointPendingWrite> => {
            return [task, channel, await this.serde.loadsTyped(type, blob)];
          }),
        ),
      };
      return [channel, history] as const;
    });
    return Object.fromEntries(await Promise.all(histories));
  }

  override deleteThread(threadId: string): Promise<void> {
    return super.deleteThread(this.keyOf(threadId));
  }

  /** The thread's id in the tables. */
  protected keyOf(threadId: string): string {
    return checkpointKey(this.tenantId, threadId);
  }

  private stored(config: RunnableConfig): RunnableConfig {
    const threadId: unknown = config.configurable?.thread_id;
    return { ...config, configurable: { ...config.configurable, thread_id: this.keyOf(String(threadId)) } };
  }

  private shown(tuple: CheckpointTuple): CheckpointTuple {
    const { config, parentConfig, checkpoint } = tuple;
    // Both libraries keep their checkpoints in the same tables, and each versions its channels in its own way.
    if (Object.values(checkpoint.channel_versions).some((version) => typeof version === 'string')) {
      throw new OtherLanguage();
    }
    for (const task of endedTasks(tuple)) this.ended.add(task);
    return {
      ...tuple,
      config: this.shownConfig(config),
      ...(parentConfig && { parentConfig: this.shownConfig(parentConfig) }),
    };
  }

  private shownConfig(config: RunnableConfig): RunnableConfig {
    const { thread_id: key } = config.configurable as { thread_id: string };
    return { ...config, configurable: { ...config.configurable, thread_id: threadOfKey(this.tenantId, key) } };
  }

  /**
   * The integer part continues the count, the fraction is random. Without `this`, as the library calls it for edits, all is
   * random.
   */
  override getNextVersion(this: CheckpointSaver | undefined, current: number | undefined): number {
    const count = Math.floor(current ?? 0) + 1;
    const next = this?.given.get(current ?? 0) ?? count + Math.random();
    this?.given.set(current ?? 0, next);
    return next;
  }

  /** Metadata are plain JSON in a column that is searched, without encoded objects. */
  protected metadataColumn(metadata: CheckpointMetadata): unknown {
    return JSON.parse(storableJson(toWireJson(metadata))) as unknown;
  }

  protected override metadataToStore(metadata: CheckpointMetadata): Promise<unknown> {
    return storedObject('checkpoint', 'metadata', this.metadataColumn(metadata));
  }

  protected override blobsToStore(blobs: (Uint8Array | undefined)[]): Promise<(Uint8Array | undefined)[]> {
    return storedBytes('checkpoint', 'values', blobs);
  }
}

/** A promise that is awaited later, if at all: its error is thrown there, and must not count as unhandled until then. */
export function seenLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
