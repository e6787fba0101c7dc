import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecuteRunResult } from '../../workflows/contracts/run.contract';
import { RunExecution } from './run-execution';

describe('an execution of a run', () => {
  function lasting() {
    let end!: (result: ExecuteRunResult) => void;
    let fail!: (error: Error) => void;
    const execution = new RunExecution(
      () =>
        new Promise((resolve, reject) => {
          end = resolve;
          fail = reject;
        }),
    );
    return { execution, end, fail };
  }

  it('reports its end to all who wait for it', async () => {
    const { execution, end } = lasting();
    const waiting = [execution.endedWithin(10_000), execution.watch()];
    end({ ending: 'success' });
    expect(await Promise.all(waiting)).toEqual([{ ending: 'success' }, { ending: 'success' }]);
    expect(await execution.endedWithin(0)).toEqual({ ending: 'success' });
  });

  it('stops waiting at the time limit, and continues to run', async () => {
    const { execution, end } = lasting();
    expect(await execution.endedWithin(5)).toBeUndefined();
    end({ ending: 'success' });
    expect(await execution.watch()).toEqual({ ending: 'success' });
  });

  it('ends every wait when the worker stops, including later ones', async () => {
    const { execution } = lasting();
    const waiting = execution.endedWithin(3_600_000);
    execution.stopWaiting();
    expect(await waiting).toBeUndefined();
    expect(await execution.endedWithin(3_600_000)).toBeUndefined();
  });

  it('is watched as long as a caller waits for its end', async () => {
    const { execution, end } = lasting();
    expect(execution.isWatched).toBe(false);
    const watching = execution.watch();
    expect(execution.isWatched).toBe(true);
    end({ ending: 'success' });
    await watching;
    expect(execution.isWatched).toBe(false);
  });

  it('may fail while no caller waits, and reports the failure to later ones', async () => {
    const { execution, fail } = lasting();
    fail(new Error('The database is away'));
    await sleep(5);
    await expect(execution.endedWithin(1_000)).rejects.toThrow('The database is away');
    await expect(execution.watch()).rejects.toThrow('The database is away');
  });

  it('distinguishes a requested cancellation from an aborted attempt', () => {
    const requested = lasting().execution;
    requested.cancel();
    expect([requested.signal.aborted, requested.isCancelled]).toEqual([true, true]);
    const stopped = lasting().execution;
    stopped.stop();
    expect([stopped.signal.aborted, stopped.isCancelled]).toEqual([true, false]);
  });
});
