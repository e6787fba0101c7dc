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
const recorded = readdirSync(HISTORIES).filter((name) => name.startsWith('cron-'));

interface History {
  events: {
    activityTaskScheduledEventAttributes?: { activityType: { name: string }; input: { payloads: { data: string }[] } };
  }[];
}

const read = (name: string): History => JSON.parse(readFileSync(join(HISTORIES, name), 'utf8')) as History;

/** Ticks of earlier releases, recorded by record-crons.ts: today's code has to take the same decisions. */
describe('recorded ticks of crons', () => {
  let workflowBundle: WorkflowBundleWithSourceMap;

  beforeAll(async () => {
    Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') });
    workflowBundle = await bundleWorkflowCode({
      workflowsPath: require.resolve('../../workflows/cron.workflow'),
      logger: new DefaultLogger('ERROR'),
    });
  }, 120_000);

  const replay = (history: History, id: string): Promise<void> =>
    Worker.runReplayHistory({ workflowBundle }, history, id);

  it.each(recorded)('replays %s', async (name) => {
    await replay(read(name), name.replace(/\.json$/, ''));
  });

  it('has one of a tick, which knows its time, and one of a backfill, which needs none', () => {
    expect(recorded.sort()).toEqual(['cron-backfill.json', 'cron-tick.json']);
    const inputs = recorded.map((name) => {
      const [scheduled] = read(name).events.flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
      return JSON.parse(Buffer.from(scheduled.input.payloads[0].data, 'base64').toString()) as object;
    });
    expect(inputs[0]).toEqual({ cronId: expect.any(String), tenantId: expect.any(String), revision: 1 });
    expect(inputs[1]).toMatchObject({ scheduledAt: expect.stringMatching(/:\d\d\.000Z$/) });
  });

  it('would notice a workflow that decides otherwise', async () => {
    const history = read('cron-tick.json');
    const [scheduled] = history.events.flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
    scheduled.activityType.name = 'fireEverything';
    await expect(replay(history, 'cron-of-another-release')).rejects.toThrow(DeterminismViolationError);
  });

  it('carries ids only', () => {
    for (const name of recorded) {
      const text = JSON.stringify(read(name)).replace(/"data":"([^"]+)"/g, (_, data: string) =>
        Buffer.from(data, 'base64').toString(),
      );
      expect(text).not.toContain('of the input');
    }
  });
});
