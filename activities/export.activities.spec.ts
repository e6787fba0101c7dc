import { ApplicationFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { ExportExecutor } from '../src/exports/export-executor';
import { ExportFailure } from '../src/exports/export-failure';
import type { PartitionExecutor } from '../src/exports/partitions/partition-executor';
import type { ScheduleExecutor } from '../src/exports/schedule/schedule-executor';
import { ExportActivityProvider } from './export.activities';

describe('completeExport', () => {
  const words = { code: 'InternalFailure', hint: 'It is retried automatically.' };

  it.each([true, false])('fails without a cause that users may not see (final: %s)', async (isFinal) => {
    const cause = new Error('connect ECONNREFUSED 10.0.3.7:5432');
    const failure = new ExportFailure('The export could not be continued', isFinal, words, { cause });
    const executor: Pick<ExportExecutor, 'complete'> = { complete: () => Promise.reject(failure) };
    const provider = new ExportActivityProvider(
      executor as ExportExecutor,
      {} as PartitionExecutor,
      {} as ScheduleExecutor,
    );
    const { completeExport } = provider.activities();
    const environment = new MockActivityEnvironment(undefined, { logger: new DefaultLogger('ERROR') });
    const attempt = environment.run(completeExport, { exportId: 'export', tenantId: 'tenant' });
    const thrown: unknown = await attempt.catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(ApplicationFailure);
    expect(thrown).toMatchObject({ message: failure.message, type: 'ExportFailure', nonRetryable: isFinal });
    expect((thrown as ApplicationFailure).cause).toBeUndefined();
  });
});
