import { WorkerProcess } from './worker-process';

const never = new Promise<never>(() => undefined);

/** A worker of Temporal, which runs until `run` says. */
const temporalWorker = (run: Promise<void>) => ({ run: () => run, getState: () => 'RUNNING' });

describe('WorkerProcess', () => {
  it('reports why a worker of Temporal failed while the others still use the connection', async () => {
    const connection = {
      close: () => Promise.reject(new Error('Cannot close connection while Workers hold a reference to it')),
    };
    const sweeper = { start: jest.fn(), stop: jest.fn() };
    const parts = [
      connection,
      [temporalWorker(never), temporalWorker(Promise.reject(new Error('Namespace not found')))],
      undefined,
      sweeper,
      { begin: () => never },
      {},
      {},
    ];
    const worker = Reflect.construct(WorkerProcess, parts) as WorkerProcess;
    await expect(worker.run()).rejects.toThrow('Namespace not found');
    expect(sweeper.stop).toHaveBeenCalledTimes(1);
  });
});
