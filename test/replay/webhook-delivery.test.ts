import { DeterminismViolationError } from '@temporalio/workflow';
import { readHistory, recordedHistories, type History, Replayer } from '../support/replay';

const recorded = recordedHistories('webhook-');

/** Histories of deliveries of earlier releases, by `temporal workflow show -o json`: today's code must make them again. */
describe('recorded webhook deliveries', () => {
  let replayer: Replayer;

  beforeAll(async () => {
    replayer = await Replayer.bundle('webhook-delivery.workflow');
  });

  it.each(recorded)('replay %s', (name) => replayer.replayRecorded(name));

  it('would reveal a workflow that does something else', async () => {
    const other = JSON.stringify(readHistory('webhook-delivered.json')).replaceAll('attemptDelivery', 'another');
    await expect(replayer.replay(JSON.parse(other) as History, 'webhook-other')).rejects.toThrow(
      DeterminismViolationError,
    );
  });

  it('include a history for each way a delivery can end', () => {
    expect(recorded).toEqual([
      'webhook-busy.json',
      'webhook-cancelled.json',
      'webhook-delivered.json',
      'webhook-failed.json',
    ]);
  });
});
