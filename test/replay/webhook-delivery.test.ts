import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';

const HISTORIES = join(__dirname, 'histories');
const recorded = readdirSync(HISTORIES).filter((name) => name.startsWith('webhook-'));

/** Histories of deliveries of earlier releases, by `temporal workflow show -o json`: today's code must make them again. */
describe('recorded webhook deliveries', () => {
  beforeAll(() => Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') }));

  it.each(recorded)('replays %s', async (name) => {
    const history: unknown = JSON.parse(readFileSync(join(HISTORIES, name), 'utf8'));
    await Worker.runReplayHistory(
      { workflowsPath: require.resolve('../../workflows/webhook-delivery.workflow') },
      history,
      name.replace(/\.json$/, ''),
    );
  });

  it('notices when the code would do something else', async () => {
    const other = readFileSync(join(HISTORIES, 'webhook-delivered.json'), 'utf8').replaceAll(
      'attemptDelivery',
      'another',
    );
    await expect(
      Worker.runReplayHistory(
        { workflowsPath: require.resolve('../../workflows/webhook-delivery.workflow') },
        JSON.parse(other),
        'webhook-other',
      ),
    ).rejects.toThrow(DeterminismViolationError);
  });

  it('has a history for each way a delivery can end', () => {
    expect(recorded.sort()).toEqual([
      'webhook-busy.json',
      'webhook-cancelled.json',
      'webhook-delivered.json',
      'webhook-failed.json',
    ]);
  });
});
