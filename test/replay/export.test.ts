import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';

const HISTORIES = join(__dirname, 'histories');
/** One for each way through the workflows, recorded with `temporal workflow show -o json`. */
const NAMES = readdirSync(HISTORIES).filter((name) => name.startsWith('export-'));

describe('recorded exports', () => {
  let workflowBundle: WorkflowBundleWithSourceMap;

  beforeAll(async () => {
    Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') });
    workflowBundle = await bundleWorkflowCode({
      workflowsPath: require.resolve('../../workflows'),
      logger: new DefaultLogger('ERROR'),
    });
  }, 60_000);

  const read = (name: string): { events: Record<string, unknown>[] } =>
    JSON.parse(readFileSync(join(HISTORIES, name), 'utf8')) as { events: Record<string, unknown>[] };

  it.each(NAMES)('%s replays', async (name) => {
    await Worker.runReplayHistory({ workflowBundle, replayName: name }, read(name));
  });

  it('would notice a workflow that does something else', async () => {
    const history = read('export-partition-completed.json');
    const text = JSON.stringify(history).replaceAll('"exportPartition"', '"anotherActivity"');
    await expect(Worker.runReplayHistory({ workflowBundle }, JSON.parse(text))).rejects.toThrow(
      /nondeterminism|determinis/i,
    );
  });
});
