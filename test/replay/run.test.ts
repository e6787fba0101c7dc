import { DeterminismViolationError } from '@temporalio/workflow';
import type { RunWorkflowInput } from '../../workflows/contracts/run.contract';
import { decodePayload, historyText, readHistory, recordedHistories, Replayer } from '../support/replay';

const recorded = recordedHistories('run-');

/** Runs of earlier releases, recorded by record-runs.ts: today's code has to take the same decisions. */
describe('recorded runs', () => {
  let replayer: Replayer;

  beforeAll(async () => {
    replayer = await Replayer.bundle('run.workflow');
  });

  it.each(recorded)('replay %s', (name) => replayer.replayRecorded(name));

  it('include a history for each way a run can end', () => {
    const endings = recorded.map((name) => {
      const { result } = readHistory(name).events.at(-1)!.workflowExecutionCompletedEventAttributes!;
      return [name, decodePayload<{ ending: string }>(result).ending];
    });
    expect(Object.fromEntries(endings)).toEqual({
      // Histories of the workflow that had only one activity.
      'run-cancelled.json': 'interrupted',
      'run-done.json': 'success',
      'run-failed.json': 'error',
      'run-timed-out.json': 'timeout',
      'run-webhook.json': 'success',
      // The run ended in its local activity.
      'run-begun-done.json': 'success',
      'run-begun-failed.json': 'error',
      'run-begun-webhook.json': 'success',
      // The run was watched in the process that began it, and taken over from there.
      'run-watched-cancelled.json': 'interrupted',
      'run-watched-done.json': 'success',
      'run-watched-timed-out.json': 'timeout',
      'run-taken-over.json': 'success',
      // The loss of a worker was noticed by its session: its activity was failed, or its workflow replaced.
      'run-handed-over.json': 'success',
      'run-replaced.json': 'success',
      // Another worker had taken the run over when its workflow was to do so, and it was watched there.
      'run-passed-on.json': 'success',
    });
  });

  /** A recorded history whose workflow was started with further input. */
  function historyWith(name: string, further: Partial<RunWorkflowInput>) {
    const history = readHistory(name);
    const [payload] = history.events[0].workflowExecutionStartedEventAttributes!.input.payloads;
    const input = { ...decodePayload<RunWorkflowInput>({ payloads: [payload] }), ...further };
    payload.data = Buffer.from(JSON.stringify(input)).toString('base64');
    return history;
  }

  it('replay a run that is taken over, where a worker of an earlier release began it', async () => {
    await replayer.replay(historyWith('run-watched-done.json', { takesOver: true }), 'run-begun-by-an-earlier-release');
  });

  it('replay a run that a worker of an earlier release took over without knowing from whom', async () => {
    await replayer.replay(historyWith('run-replaced.json', { from: 'runs-lost' }), 'run-taken-by-an-earlier-release');
  });

  it('would reveal a workflow that decides differently', async () => {
    const history = readHistory('run-timed-out.json');
    const scheduled = history.events.flatMap(
      ({ activityTaskScheduledEventAttributes: attributes }) => attributes?.activityType ?? [],
    );
    expect(scheduled.map(({ name }) => name)).toEqual(['executeRun', 'endRun']);
    // Changes the history as if its release had ended runs with another activity.
    scheduled[1].name = 'abandonRun';
    await expect(replayer.replay(history, 'run-of-another-release')).rejects.toThrow(DeterminismViolationError);
  });

  it('carry ids only: no input, no output, no address of a webhook', () => {
    for (const name of recorded) {
      expect(historyText(name)).not.toMatch(/node_1|sleep_ms|The tool is broken|127\.0\.0\.1:\d+\/hook/);
    }
  });
});
