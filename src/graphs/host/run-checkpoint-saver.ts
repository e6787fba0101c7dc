import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from '@langchain/langgraph-checkpoint';
import { storableJson } from '../../database/storable-text';
import type { Fence } from '../../database/fence';
import { TASK } from '../../patches/langgraph/graph-internals';
import { CheckpointSaver, seenLater } from './checkpoint-saver';
import type { Connections } from './tenant-connections';
import { replacesKnown, type Rows, storeRows } from './checkpoint-writes';
import { isInfrastructure } from './infrastructure-errors';
import { HandedBack, LeftGraphs } from './left-graphs';
import { NewestCheckpoint } from './newest-checkpoint';

/** Signals by which the worker hands a run back. */
export interface HandBack {
  isWanted: () => boolean;
  /** Resolves when every event of the steps so far has been read: stopping the graph drops what is still queued. */
  untilRead: () => Promise<void>;
}

/** The attempt at a run that a saver stores checkpoints for. */
export interface RunOfSaver {
  tenantId: string;
  fence: Fence;
  threadId: string;
  /** Whether the thread had no checkpoint before the run. */
  threadIsNew: boolean;
  /** Metadata of every checkpoint of the run: its creator, and the user's own metadata. */
  metadata: Record<string, unknown>;
  /** Whether the run stores a checkpoint after each step, not only at its end. */
  storesSteps: boolean;
  /** Asked after each checkpoint. */
  handBack: HandBack;
  /** The module of the graph. */
  graphFile: string | undefined;
}

/** Rows of a thread that go with its next checkpoint. */
interface Deferred {
  parts: Promise<Rows>[];
  written: PromiseWithResolvers<void>;
  /** Writes them where no checkpoint follows soon. */
  timer: NodeJS.Timeout;
}

/** Longer than the library takes from the input to the first step, and from the end of a step's last task to its checkpoint. */
const DEFERRED_MS = 5;

/**
 * The saver of every thread with the two writes of a run replaced: each is one statement instead of the library's transaction
 * of several, and each is refused once another attempt holds the run. Tables and encoding are the library's.
 */
export class RunCheckpointSaver extends CheckpointSaver {
  private readonly open = new Set<Promise<void>>();
  private defersInput = false;
  /** Rows that are waiting, by thread: a node may run other graphs on threads of their own. */
  private readonly deferred = new Map<string, Deferred>();
  /**
   * A lost connection, which code of the user may hide from the library, since that of a nested graph passes through it, or an
   * error of deferred rows, which no caller may have awaited: it fails every later write.
   */
  private failure: Error | undefined;
  /** The nested graphs in which the run was handed back. */
  readonly left = new LeftGraphs();
  private readonly newest: NewestCheckpoint;

  constructor(
    connections: Connections,
    private readonly run: RunOfSaver,
  ) {
    super(connections, run.tenantId, run.graphFile);
    this.newest = new NewestCheckpoint(run.threadIsNew);
  }

  /**
   * Writes the checkpoint of the input together with the one after it, for a graph that runs no code of its own between
   * the two: without either, an attempt that is repeated begins with the input again.
   */
  deferInput(): void {
    this.defersInput = true;
  }

  /** Resolves when all writes so far are committed: only then may their events be emitted. */
  async written(): Promise<void> {
    await Promise.all([...this.deferred.values()].map(({ written }) => written.promise));
    await Promise.all(this.open);
    if (this.failure) throw this.failure;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable as Record<string, string>;
    // A node that starts its nested graph again would run a further step of it.
    if (this.isOfRun(thread_id) && this.left.has(checkpoint_ns)) await this.refuse();
    await this.writeDeferred();
    const isNewest = thread_id === this.run.threadId && checkpoint_ns === '' && !checkpoint_id;
    // Writes in flight may be of a task of the newest checkpoint.
    const known = isNewest && this.open.size === 0 ? this.newest.find() : undefined;
    if (known === null) return undefined;
    return known ? this.tupleOf(this.run.threadId, known) : super.getTuple(config);
  }

  override async getDeltaChannelHistory(...asked: Parameters<CheckpointSaver['getDeltaChannelHistory']>) {
    await this.writeDeferred();
    return super.getDeltaChannelHistory(...asked);
  }

  override async *list(...asked: Parameters<CheckpointSaver['list']>): AsyncGenerator<CheckpointTuple> {
    await this.writeDeferred();
    yield* super.list(...asked);
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread_id, checkpoint_ns = '', [TASK]: task } = config.configurable as Record<string, string>;
    if (this.isOfRun(thread_id) && this.left.hasInside(checkpoint_ns)) await this.refuse();
    const rows = seenLater(this.rowsOfCheckpoint(config, checkpoint, metadata, newVersions));
    const isInput = metadata.source === 'input' && checkpoint_ns === '';
    if (isInput && this.defersInput && !this.run.handBack.isWanted()) {
      this.defer(thread_id, rows);
    } else {
      await this.write(thread_id, rows);
      if (this.run.handBack.isWanted() && this.mayLeave(thread_id, checkpoint_ns))
        await this.leave(checkpoint_ns, task);
    }
    return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } };
  }

  /**
   * Stores the result of a task, where possible together with the checkpoint of its step: the library asks for that as soon as
   * the last task of the step has ended.
   */
  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath?: string,
  ): Promise<void> {
    if (writes.length === 0) return;
    const { thread_id } = config.configurable as { thread_id: string };
    if (this.isOfRun(thread_id) && this.left.hasInTask(taskId)) await this.refuse();
    const rows = seenLater(this.rowsToWrite(config, writes, taskId, taskPath));
    if (replacesKnown(writes)) {
      await this.writeDeferred();
      await this.track(this.store(thread_id, [rows], true));
    } else {
      this.defer(thread_id, rows);
    }
  }

  /**
   * Stores results of tasks of several checkpoints in one statement: all of them, or none. Each replaces what its task had
   * in the same channel.
   */
  async putAllWrites(all: Parameters<CheckpointSaver['putWrites']>[]): Promise<void> {
    await this.writeDeferred();
    const rows = all.map((each) => seenLater(this.rowsToWrite(...each)));
    await this.track(this.store(this.run.threadId, rows, true));
  }

  private isOfRun(threadId: string): boolean {
    return threadId === this.run.threadId;
  }

  /**
   * Whether the next attempt can continue a graph at its checkpoint. One on a thread of its own belongs to a node that no
   * namespace names. One that is nested in a run without steps would be run by a node that begins again.
   */
  private mayLeave(threadId: string, namespace: string): boolean {
    return this.isOfRun(threadId) && (namespace === '' || this.run.storesSteps);
  }

  /** @throws {HandedBack} once every event so far has been read */
  private async leave(namespace: string, task: string | undefined): Promise<never> {
    await this.run.handBack.untilRead();
    const isNested = namespace !== '';
    const handedBack = new HandedBack(isNested);
    if (isNested) this.left.add(namespace, task, handedBack);
    throw handedBack;
  }

  /**
   * Refuses what follows from a nested graph that the run has left, such as the result of a node that has caught the error: the
   * next attempt continues the nested graph. Results of other nodes are kept.
   * @throws {HandedBack}
   */
  private async refuse(): Promise<never> {
    await this.writeDeferred();
    throw new HandedBack(true);
  }

  private defer(threadId: string, rows: Promise<Rows>): void {
    if (this.failure) throw this.failure;
    const deferred = this.deferred.get(threadId);
    if (deferred) {
      deferred.parts.push(rows);
      return;
    }
    const written = Promise.withResolvers<void>();
    // Callers that wait for the rows see the failure; it must not count as unhandled where there are none.
    written.promise.catch((error: Error) => (this.failure = error));
    const timer = setTimeout(() => void this.write(threadId).catch(() => undefined), DEFERRED_MS);
    this.deferred.set(threadId, { parts: [rows], written, timer });
  }

  private async writeDeferred(): Promise<void> {
    await Promise.all([...this.deferred.keys()].map((threadId) => this.write(threadId)));
  }

  /** Writes the deferred rows of the thread and these in one statement. */
  private async write(threadId: string, rows?: Promise<Rows>): Promise<void> {
    const deferred = this.deferred.get(threadId);
    this.deferred.delete(threadId);
    clearTimeout(deferred?.timer);
    if (this.failure) {
      deferred?.written.reject(this.failure);
      throw this.failure;
    }
    const storing = this.store(threadId, [...(deferred?.parts ?? []), ...(rows ? [rows] : [])]);
    if (deferred) storing.then(deferred.written.resolve, deferred.written.reject);
    await this.track(storing);
  }

  private async track(writing: Promise<void>): Promise<void> {
    this.open.add(writing);
    try {
      await writing;
    } finally {
      this.open.delete(writing);
    }
  }

  private async store(threadId: string, parts: Promise<Rows>[], replacesWrites = false): Promise<void> {
    const all = await Promise.all(parts);
    const rows: Rows = {
      blobs: all.flatMap((each) => each.blobs),
      writes: all.flatMap((each) => each.writes),
      checkpoints: all.flatMap((each) => each.checkpoints),
    };
    const { fence } = this.run;
    try {
      await storeRows(this.connections, { threadKey: this.keyOf(threadId), rows, replacesWrites, fence });
    } catch (error) {
      if (isInfrastructure(error)) this.failure ??= error as Error;
      throw error;
    }
    if (threadId === this.run.threadId) this.newest.add(rows);
  }

  private async rowsOfCheckpoint(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<Rows> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable as Record<string, string>;
    const serializedMetadata = this.metadataColumn({ ...this.run.metadata, ...metadata });
    const blobs = await this.blobRows(thread_id, checkpoint_ns, checkpoint.channel_values, newVersions);
    // The names of nodes and channels are in it.
    const serialized = storableJson(JSON.stringify(this.checkpointColumn(checkpoint)));
    return {
      blobs: blobs.map(([, ns, channel, version, type, blob]) => [
        ns,
        channel,
        version,
        type,
        blob ? Buffer.from(blob) : null,
      ]),
      writes: [],
      checkpoints: [
        [checkpoint_ns, checkpoint.id, checkpoint_id ?? null, serialized, JSON.stringify(serializedMetadata)],
      ],
    };
  }

  private async rowsToWrite(...given: Parameters<CheckpointSaver['putWrites']>): Promise<Rows> {
    return { blobs: [], writes: await this.rowsOfWrites(...given), checkpoints: [] };
  }
}
