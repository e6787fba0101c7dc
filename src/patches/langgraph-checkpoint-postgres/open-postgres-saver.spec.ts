import { isDeepStrictEqual } from 'node:util';
import type { Pool } from 'pg';
import { expectLibrary } from '../../../test/support/library-guard';
import { OpenPostgresSaver, WHERE_NEWEST, whereListed } from './open-postgres-saver';

class Saver extends OpenPostgresSaver {
  protected override async metadataToStore(metadata: unknown): Promise<unknown> {
    return metadata;
  }

  protected override async blobsToStore(blobs: (Uint8Array | undefined)[]): Promise<(Uint8Array | undefined)[]> {
    return blobs;
  }

  select(statement: string): void {
    this.selectBy(statement);
  }

  read(...asked: Parameters<OpenPostgresSaver['tupleOf']>): ReturnType<OpenPostgresSaver['tupleOf']> {
    return this.tupleOf(...asked);
  }
}

describe('PostgresSaver', () => {
  // What the statements do is tested on Postgres: test/integration has the checkpoints of threads.
  const texts: string[] = [];
  let rows: unknown[];
  const pool = {
    query: async (text: string) => {
      texts.push(text);
      return { rows };
    },
  };
  const saver = new Saver(pool as unknown as Pool);

  beforeEach(() => {
    texts.length = 0;
    rows = [];
  });

  it('reads with the SELECT that it is given', async () => {
    saver.select('SELECT ours ');
    await saver.getTuple({ configurable: { thread_id: 'a', checkpoint_ns: '', checkpoint_id: 'b' } });
    for await (const _ of saver.list({ configurable: { thread_id: 'a' } })) continue;
    expectLibrary(
      texts.length === 2 && texts.every((text) => text.startsWith('SELECT ours ')),
      `PostgresSaver reads by other statements than SQL_STATEMENTS.SELECT_SQL: ${texts.join('; ')}`,
    );
  });

  it('extends the text of the prepared statement that reads the newest checkpoint', async () => {
    saver.select('SELECT ours ');
    await saver.getTuple({ configurable: { thread_id: 'a', checkpoint_ns: '' } });
    expectLibrary(
      texts[0] === `SELECT ours ${WHERE_NEWEST}`,
      `PostgresSaver asks for the newest checkpoint in other words, so that the statement is not prepared: ${texts[0]}`,
    );
  });

  it('extends the texts of the prepared statements that read pages of checkpoints', async () => {
    saver.select('SELECT ours ');
    const config = { configurable: { thread_id: 'a', checkpoint_ns: '' } };
    const before = { configurable: { ...config.configurable, checkpoint_id: 'b' } };
    for await (const _ of saver.list(config, { limit: 7 })) continue;
    for await (const _ of saver.list(config, { limit: 7, before })) continue;
    expectLibrary(
      isDeepStrictEqual(texts, [`SELECT ours ${whereListed(7)}`, `SELECT ours ${whereListed(7, 'before')}`]),
      `PostgresSaver lists checkpoints in other words, so that the statements are not prepared: ${texts.join('; ')}`,
    );
  });

  it('reads the same from a checkpoint at hand as from its row', async () => {
    const checkpoint = {
      v: 4,
      id: 'b',
      ts: '2026-01-01T00:00:00Z',
      channel_versions: { a: 1, none: 1 },
      versions_seen: {},
    };
    const values = [
      { channel: 'a', type: 'json', blob: Buffer.from('{"text":"ä"}') },
      { channel: 'none', type: 'empty', blob: null },
    ];
    const row = { checkpoint_ns: '', checkpoint_id: 'b', parent_checkpoint_id: 'a', metadata: { step: 1 } };
    const channelValues = values.map(({ channel, type, blob }) =>
      [channel, type, blob ?? ''].map((each) => Buffer.from(each)),
    );
    rows = [{ ...row, thread_id: 't', checkpoint, channel_values: channelValues, pending_writes: null }];
    const read = await saver.getTuple({ configurable: { thread_id: 't' } });
    const { metadata } = row;
    expect(read?.checkpoint.channel_values).toEqual({ a: { text: 'ä' } });
    expectLibrary(
      isDeepStrictEqual(await saver.read('t', { id: 'b', parent: 'a', checkpoint, metadata, values }), read),
      'PostgresSaver reads something else from a row than Gantry does from what it has just stored.',
    );
  });

  it('has the methods that encode rows', () => {
    const missing = ['_dumpBlobs', '_dumpWrites', '_dumpCheckpoint', '_dumpMetadata', '_loadMetadata'].filter(
      (name) => !(name in saver),
    );
    expectLibrary(missing.length === 0, `PostgresSaver has lost ${missing.join(', ')}, by which Gantry encodes rows.`);
  });
});
