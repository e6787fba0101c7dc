import { DeterminismViolationError } from '@temporalio/workflow';
import { decodePayload, historyText, readHistory, recordedHistories, Replayer } from '../support/replay';

const recorded = recordedHistories('run-');

/** Runs of earlier releases, recorded by record-runs.ts: today's code has to take the same decisions. */
describe('recorded runs', () => {
  let replayer: Replayer;

  beforeAll(async () => {
    replayer = await Replayer.bundle('run.workflow');
  }, 120_000);

  it.each(recorded)('replays %s', (name) => replayer.replayRecorded(name));

  it('has a history for each way a run can end', () => {
    expect(recorded).toEqual([
      'run-cancelled.json',
      'run-done.json',
      'run-failed.json',
      'run-timed-out.json',
      'run-webhook.json',
    ]);
    const endings = recorded.map((name) => {
      const { result } = readHistory(name).events.at(-1)!.workflowExecutionCompletedEventAttributes!;
      return decodePayload<{ ending: string }>(result).ending;
    });
    expect(endings).toEqual(['interrupted', 'success', 'error', 'timeout', 'success']);
  });

  it('would notice a workflow that decides otherwise', async () => {
    const history = readHistory('run-timed-out.json');
    const scheduled = history.events.flatMap(
      ({ activityTaskScheduledEventAttributes: attributes }) => attributes?.activityType ?? [],
    );
    expect(scheduled.map(({ name }) => name)).toEqual(['executeRun', 'endRun']);
    // As if the release that wrote this history had ended its runs with another activity.
    scheduled[1].name = 'abandonRun';
    await expect(replayer.replay(history, 'run-of-another-release')).rejects.toThrow(DeterminismViolationError);
  });

  it('carries ids only: no input, no output, no address of a webhook', () => {
    for (const name of recorded) {
      expect(historyText(name)).not.toMatch(/node_1|sleep_ms|The tool is broken|127\.0\.0\.1:\d+\/hook/);
    }
  });
});
