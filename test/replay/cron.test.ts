import { DeterminismViolationError } from '@temporalio/workflow';
import { decodePayload, historyText, readHistory, recordedHistories, Replayer } from '../support/replay';

const recorded = recordedHistories('cron-');

/** Ticks of earlier releases, recorded by record-crons.ts: today's code has to take the same decisions. */
describe('recorded ticks of crons', () => {
  let replayer: Replayer;

  beforeAll(async () => {
    replayer = await Replayer.bundle('cron.workflow');
  });

  it.each(recorded)('replay %s', (name) => replayer.replayRecorded(name));

  it('include one of a tick, which has its time, and one of a backfill, which needs none', () => {
    expect(recorded).toEqual(['cron-backfill.json', 'cron-tick.json']);
    const inputs = recorded.map((name) => {
      const [scheduled] = readHistory(name).events.flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
      return decodePayload<object>(scheduled.input);
    });
    expect(inputs[0]).toEqual({ cronId: expect.any(String), tenantId: expect.any(String), revision: 1 });
    expect(inputs[1]).toMatchObject({ scheduledAt: expect.stringMatching(/:\d\d\.000Z$/) });
  });

  it('would reveal a workflow that decides differently', async () => {
    const history = readHistory('cron-tick.json');
    const [scheduled] = history.events.flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
    scheduled.activityType.name = 'fireEverything';
    await expect(replayer.replay(history, 'cron-of-another-release')).rejects.toThrow(DeterminismViolationError);
  });

  it('carry ids only', () => {
    for (const name of recorded) expect(historyText(name)).not.toContain('of the input');
  });
});
