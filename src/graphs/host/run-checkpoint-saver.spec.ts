import { emptyCheckpoint } from '@langchain/langgraph-checkpoint';
import { PostgresUnreachable } from '../../database/lost-connections';
import { HandedBack } from './left-graphs';
import { RunCheckpointSaver, type RunOfSaver } from './run-checkpoint-saver';
import type { Connections } from './tenant-connections';

const THREAD = '33333333-3333-4333-8333-333333333333';

function saverOf(query: () => Promise<unknown>, run: Partial<RunOfSaver> = {}): RunCheckpointSaver {
  return new RunCheckpointSaver({ query, querySettingTenant: query } as unknown as Connections, {
    tenantId: '11111111-1111-4111-8111-111111111111',
    fence: { runId: '22222222-2222-4222-8222-222222222222', attempt: 1 },
    threadId: THREAD,
    threadIsNew: true,
    metadata: {},
    storesSteps: true,
    handBack: { isWanted: () => false, untilRead: () => Promise.resolve() },
    graphFile: undefined,
    ...run,
  });
}

const put = (saver: RunCheckpointSaver, checkpoint_ns: string): Promise<unknown> =>
  saver.put(
    { configurable: { thread_id: THREAD, checkpoint_ns } },
    emptyCheckpoint(),
    { source: 'loop', step: 1, parents: {} },
    {},
  );

describe('the saver of a run', () => {
  it('fails those that wait for deferred rows when the connection to Postgres is lost', async () => {
    const lost = Promise.withResolvers<never>();
    const began = Promise.withResolvers<void>();
    const saver = saverOf(() => {
      began.resolve();
      return lost.promise;
    });
    const putting = put(saver, 'nested:t1');
    await began.promise;
    // A task beside the nested graph ends while its checkpoint is being written.
    await saver.putWrites({ configurable: { thread_id: THREAD, checkpoint_id: '1ee' } }, [['done', 1]], 't2');
    const written = saver.written();
    lost.reject(new PostgresUnreachable('The server closed the connection'));
    await expect(putting).rejects.toThrow(PostgresUnreachable);
    await expect(written).rejects.toThrow(PostgresUnreachable);
  });

  it('leaves a nested graph only where the run stores the steps around it', async () => {
    const handBack = { isWanted: () => true, untilRead: () => Promise.resolve() };
    const stored = (): Promise<unknown> => Promise.resolve({ rowCount: 1, rows: [{}] });
    await expect(put(saverOf(stored, { handBack }), 'nested:t1')).rejects.toThrow(HandedBack);
    const atItsEnd = saverOf(stored, { handBack, storesSteps: false });
    await put(atItsEnd, 'nested:t1');
    await expect(put(atItsEnd, '')).rejects.toThrow(HandedBack);
  });
});
