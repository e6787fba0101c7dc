import { MockActivityEnvironment } from '@temporalio/testing';
import { RunExecution } from '../src/runs/run-execution';
import type { RunExecutor } from '../src/runs/run-executor';
import { RunActivityProvider } from './run.activities';

describe('executeRun', () => {
  const input = { runId: 'a', from: 'lost' };
  type TakeOver = RunExecutor['takeOverRun'];

  /** The activity in the process that polls the task queue `here`. */
  function executeRun(takeOverRun: TakeOver) {
    const executor: Pick<RunExecutor, 'taskQueue' | 'findExecution' | 'takeOverRun'> = {
      taskQueue: 'here',
      findExecution: () => undefined,
      takeOverRun,
    };
    return new RunActivityProvider(executor as RunExecutor).activities().executeRun;
  }

  /** Takes nothing, and records the process that the run may be taken from. */
  function elsewhere(asked: unknown[]): TakeOver {
    return async (_, from) => {
      asked.push(from);
      return { state: 'elsewhere', taskQueue: 'there' };
    };
  }

  it('leaves the run where another process has taken it from the one that lost it', async () => {
    const asked: unknown[] = [];
    const answer: unknown = await new MockActivityEnvironment().run(executeRun(elsewhere(asked)), input);
    expect(answer).toEqual({ state: 'held', taskQueue: 'there' });
    expect(asked).toEqual(['lost']);
  });

  it('takes it from the same process again after an attempt that took nothing', async () => {
    const asked: unknown[] = [];
    await new MockActivityEnvironment({ attempt: 2 }).run(executeRun(elsewhere(asked)), input);
    expect(asked).toEqual(['lost']);
  });

  it('takes it from the process that took it in the attempt before', async () => {
    const asked: unknown[] = [];
    const beats: unknown[] = [];
    const first = new MockActivityEnvironment();
    first.on('heartbeat', (details) => beats.push(details));
    const execution = new RunExecution(async () => ({ ending: 'success' }));
    expect(
      await first.run(
        executeRun(async () => ({ state: 'held', execution })),
        input,
      ),
    ).toEqual({ ending: 'success' });
    expect(beats).toEqual([{ node: undefined, taskQueue: 'here' }]);
    const second = new MockActivityEnvironment({ attempt: 2, heartbeatDetails: beats[0] });
    await second.run(executeRun(elsewhere(asked)), input);
    expect(asked).toEqual(['here']);
  });

  it('takes it from no process for a workflow that does not know which one lost it, but from one that took it for this activity', async () => {
    const asked: unknown[] = [];
    const unknown = { runId: 'a', from: null };
    await new MockActivityEnvironment().run(executeRun(elsewhere(asked)), unknown);
    const heartbeatDetails = { taskQueue: 'here' };
    await new MockActivityEnvironment({ attempt: 2, heartbeatDetails }).run(executeRun(elsewhere(asked)), unknown);
    expect(asked).toEqual([null, 'here']);
  });

  it('takes it from any process for a workflow of an earlier release, which does not know who lost it', async () => {
    const asked: unknown[] = [];
    const heartbeatDetails = { taskQueue: 'here' };
    await new MockActivityEnvironment({ attempt: 2, heartbeatDetails }).run(executeRun(elsewhere(asked)), {
      runId: 'a',
    });
    expect(asked).toEqual([undefined]);
  });
});
