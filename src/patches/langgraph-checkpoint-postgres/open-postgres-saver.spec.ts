import type { Pool } from 'pg';
import { expectLibrary } from '../../../test/support/library-guard';
import { OpenPostgresSaver, WHERE_NEWEST } from './open-postgres-saver';

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
}

describe('PostgresSaver', () => {
  // What the statements do is tested on Postgres: test/integration has the checkpoints of threads.
  const texts: string[] = [];
  const pool = {
    query: async (text: string) => {
      texts.push(text);
      return { rows: [] };
    },
  };
  const saver = new Saver(pool as unknown as Pool);

  beforeEach(() => (texts.length = 0));

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

  it('has the methods that encode rows', () => {
    const missing = ['_dumpBlobs', '_dumpWrites', '_dumpCheckpoint', '_dumpMetadata', '_loadMetadata'].filter(
      (name) => !(name in saver),
    );
    expectLibrary(missing.length === 0, `PostgresSaver has lost ${missing.join(', ')}, by which Gantry encodes rows.`);
  });
});
