import { emptyCheckpoint } from '@langchain/langgraph-checkpoint';
import { PostgresUnreachable } from '../../database/lost-connections';
import { RunCheckpointSaver } from './run-checkpoint-saver';
import type { Connections } from './tenant-connections';

describe('the saver of a run whose connection to Postgres is lost', () => {
  it('fails those that wait for rows which were deferred before', async () => {
    const lost = Promise.withResolvers<never>();
    const began = Promise.withResolvers<void>();
    const query = () => {
      began.resolve();
      return lost.promise;
    };
    const saver = new RunCheckpointSaver({ query } as unknown as Connections, {
      tenantId: '11111111-1111-4111-8111-111111111111',
      fence: { runId: '22222222-2222-4222-8222-222222222222', attempt: 1 },
      threadId: '33333333-3333-4333-8333-333333333333',
      threadIsNew: true,
      metadata: {},
      handBack: { isWanted: () => false, untilRead: () => Promise.resolve() },
      graphFile: undefined,
    });
    const configurable = { thread_id: '33333333-3333-4333-8333-333333333333', checkpoint_id: '1ee' };
    const putting = saver.put(
      { configurable: { ...configurable, checkpoint_ns: 'nested:t1' } },
      emptyCheckpoint(),
      { source: 'loop', step: 1, parents: {} },
      {},
    );
    await began.promise;
    // A task beside the nested graph ends while its checkpoint is being written.
    await saver.putWrites({ configurable }, [['done', 1]], 't2');
    const written = saver.written();
    lost.reject(new PostgresUnreachable('The server closed the connection'));
    await expect(putting).rejects.toThrow(PostgresUnreachable);
    await expect(written).rejects.toThrow(PostgresUnreachable);
  });
});
