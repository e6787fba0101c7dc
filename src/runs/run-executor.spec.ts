import type { AppConfig } from '../config/config';
import { ProcessId } from '../database/process-id';
import type { RunGraphs } from './run-graphs';
import { RunExecutor } from './run-executor';
import type { RunLifecycleRepository } from './run-lifecycle.repository';
import type { RunEntity } from './run.entity';

describe('a worker without a free slot', () => {
  const startedAt = new Date();

  /** Begins a run whose row is as given, or missing. */
  function beginRun(row: Partial<RunEntity> | null) {
    const lifecycle: Pick<RunLifecycleRepository, 'beginRun' | 'findRunById'> = {
      beginRun: () => Promise.reject(new Error('It has no room for the run')),
      findRunById: async () => row as RunEntity | null,
    };
    const unused = {} as never;
    const executor = new RunExecutor(
      lifecycle as RunLifecycleRepository,
      { revision: 'code' } as RunGraphs,
      unused,
      unused,
      { worker: { runs: 0 } } as AppConfig,
      unused,
      unused,
      new ProcessId(),
    );
    return executor.beginRun('a');
  }

  it('finds a run where another one is executing it, and lets no workflow take it from there', async () => {
    const run = { tenantId: 'tenant', status: 'running', taskQueue: 'theirs', startedAt } as const;
    expect(await beginRun(run)).toEqual({ state: 'elsewhere', taskQueue: 'theirs', startedAt });
  });

  it('refuses a run that waits or was deleted', async () => {
    expect(await beginRun({ tenantId: 'tenant', status: 'pending', taskQueue: null })).toEqual({ state: 'refused' });
    expect(await beginRun(null)).toEqual({ state: 'refused' });
  });
});
