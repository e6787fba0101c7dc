import { readHistory, recordedHistories, type History, Replayer } from '../support/replay';

/** Histories, one for each path through the workflows, recorded with `temporal workflow show -o json`. */
describe('recorded exports', () => {
  let replayer: Replayer;

  beforeAll(async () => {
    replayer = await Replayer.bundle();
  });

  it.each(recordedHistories('export-'))('replay %s', (name) => replayer.replayRecorded(name));

  it('would reveal a workflow that does something else', async () => {
    const history = readHistory('export-partition-completed.json');
    const other = JSON.stringify(history).replaceAll('"exportPartition"', '"anotherActivity"');
    await expect(replayer.replay(JSON.parse(other) as History, 'export-other')).rejects.toThrow(
      /nondeterminism|determinis/i,
    );
  });
});
