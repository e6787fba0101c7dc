import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeterminismViolationError } from '@temporalio/workflow';
import {
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';

const HISTORIES = join(__dirname, 'histories');
const recorded = readdirSync(HISTORIES).filter((name) => name.startsWith('run-'));

interface HistoryEvent {
  activityTaskScheduledEventAttributes?: { activityType: { name: string } };
  workflowExecutionCompletedEventAttributes?: { result: { payloads: { data: string }[] } };
}

interface History {
  events: HistoryEvent[];
}

const read = (name: string): History => JSON.parse(readFileSync(join(HISTORIES, name), 'utf8')) as History;

/** Runs of earlier releases, recorded by record-runs.ts: today's code has to take the same decisions. */
describe('recorded runs', () => {
  let workflowBundle: WorkflowBundleWithSourceMap;

  beforeAll(async () => {
    Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') });
    workflowBundle = await bundleWorkflowCode({
      workflowsPath: require.resolve('../../workflows/run.workflow'),
      logger: new DefaultLogger('ERROR'),
    });
  }, 120_000);

  const replay = (history: History, id: string): Promise<void> =>
    Worker.runReplayHistory({ workflowBundle }, history, id);

  it.each(recorded)('replays %s', async (name) => {
    await replay(read(name), name.replace(/\.json$/, ''));
  });

  it('has a history for each way a run can end', () => {
    expect(recorded.sort()).toEqual([
      'run-cancelled.json',
      'run-done.json',
      'run-failed.json',
      'run-timed-out.json',
      'run-webhook.json',
    ]);
    const endings = recorded.map((name) => {
      const { result } = read(name).events.at(-1)!.workflowExecutionCompletedEventAttributes!;
      return (JSON.parse(Buffer.from(result.payloads[0].data, 'base64').toString()) as { ending: string }).ending;
    });
    expect(endings).toEqual(['interrupted', 'success', 'error', 'timeout', 'success']);
  });

  it('would notice a workflow that decides otherwise', async () => {
    const history = read('run-timed-out.json');
    const scheduled = history.events.flatMap(
      ({ activityTaskScheduledEventAttributes: attributes }) => attributes?.activityType ?? [],
    );
    expect(scheduled.map(({ name }) => name)).toEqual(['executeRun', 'endRun']);
    // As if the release that wrote this history had ended its runs with another activity.
    scheduled[1].name = 'abandonRun';
    await expect(replay(history, 'run-of-another-release')).rejects.toThrow(DeterminismViolationError);
  });

  it('carries ids only: no input, no output, no address of a webhook', () => {
    for (const name of recorded) {
      const text = JSON.stringify(read(name)).replace(/"data":"([^"]+)"/g, (_, data: string) =>
        Buffer.from(data, 'base64').toString(),
      );
      expect(text).not.toMatch(/node_1|sleep_ms|The tool is broken|127\.0\.0\.1:\d+\/hook/);
    }
  });
});
