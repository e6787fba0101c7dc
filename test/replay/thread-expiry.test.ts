import { DeterminismViolationError } from '@temporalio/workflow';
import { decodePayload, readHistory, Replayer } from '../support/replay';

const NAME = 'thread-expiry.json';

/** A search for expired threads of an earlier release, recorded by record-thread-expiry.ts. */
describe('a recorded search for expired threads', () => {
  let replayer: Replayer;

  beforeAll(async () => {
    replayer = await Replayer.bundle('thread-expiry.workflow');
  });

  it('replays', () => replayer.replayRecorded(NAME));

  it('reports how many threads it handled', () => {
    const { result } = readHistory(NAME).events.at(-1)!.workflowExecutionCompletedEventAttributes!;
    expect(decodePayload<object>(result)).toEqual({ deleted: 1, pruned: 0, failed: 0 });
  });

  it('would reveal a workflow that does something else', async () => {
    const history = readHistory(NAME);
    const [scheduled] = history.events.flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
    scheduled.activityType.name = 'deleteEverything';
    await expect(replayer.replay(history, 'search-of-another-release')).rejects.toThrow(DeterminismViolationError);
  });
});
