import type { StoredCheckpoint } from '../../patches/langgraph-checkpoint-postgres/open-postgres-saver';
import type { BlobRow, CheckpointRow, Rows } from './checkpoint-writes';

/** Maximum size of the values that are kept: larger ones are read from the database. */
const MAX_BYTES = 64 * 1024;
/** The library's format of checkpoints since it keeps the messages to other nodes in channels. */
const FORMAT = 4;

/**
 * The newest checkpoint of a thread's root graph, as far as it is known from what its run has written: then it needn't be read
 * from the database.
 */
export class NewestCheckpoint {
  private newest: CheckpointRow | undefined;
  /** Value of each channel that the run has written, and the version that it belongs to. */
  private readonly values = new Map<string, BlobRow>();
  /** Size of the values so far; beyond the limit it no longer changes, and no value is kept. */
  private bytes = 0;
  /** Id of the newest checkpoint that has writes of tasks. */
  private withWrites = '';

  /** @param threadIsNew whether the thread had no checkpoint before the run */
  constructor(private readonly threadIsNew: boolean) {}

  /** Notes rows that the run has stored. */
  add({ blobs, writes, checkpoints }: Rows): void {
    for (const [ns, id] of writes) if (ns === '' && id > this.withWrites) this.withWrites = id;
    for (const row of checkpoints) if (row[0] === '' && row[1] > (this.newest?.[1] ?? '')) this.newest = row;
    if (this.isTooLarge) return;
    for (const row of blobs) if (row[0] === '') this.keep(row);
    if (this.isTooLarge) this.values.clear();
  }

  private get isTooLarge(): boolean {
    return this.bytes > MAX_BYTES;
  }

  private keep(row: BlobRow): void {
    const [, channel] = row;
    this.bytes += sizeOf(row) - sizeOf(this.values.get(channel));
    this.values.set(channel, row);
  }

  /** The checkpoint; null where the thread has none, and undefined where only the database knows. */
  find(): StoredCheckpoint | null | undefined {
    if (!this.newest) return this.threadIsNew ? null : undefined;
    const [, id, parent, checkpointText, metadataText] = this.newest;
    // What tasks have written since is part of the state.
    if (this.isTooLarge || this.withWrites >= id) return undefined;
    const checkpoint = JSON.parse(checkpointText) as StoredCheckpoint['checkpoint'];
    // Of older ones, the library reads the writes of their parents as well.
    if (!(checkpoint.v >= FORMAT)) return undefined;
    const values: StoredCheckpoint['values'] = [];
    for (const [name, version] of Object.entries(checkpoint.channel_versions)) {
      const row = this.values.get(name);
      if (row?.[2] !== String(version)) return undefined;
      const [, channel, , type, blob] = row;
      values.push({ channel, type, blob });
    }
    return { id, parent, checkpoint, metadata: JSON.parse(metadataText) as Record<string, unknown>, values };
  }
}

const sizeOf = (row: BlobRow | undefined): number => row?.[4]?.length ?? 0;
