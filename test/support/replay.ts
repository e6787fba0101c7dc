import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import {
  type BundlerPlugin,
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  Worker,
  type WorkerPlugin,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';

const HISTORIES = join(__dirname, '..', 'replay', 'histories');

interface Payloads {
  payloads: { data: string }[];
}

/** The fields that tests read in a history as Temporal exports it (JSON of temporal.api.history.v1.History). */
export interface History {
  events: {
    workflowExecutionStartedEventAttributes?: { input: Payloads };
    activityTaskScheduledEventAttributes?: { activityType: { name: string }; input: Payloads };
    workflowExecutionCompletedEventAttributes?: { result: Payloads };
  }[];
}

/** The names of recorded histories, sorted. @param prefix what they begin with, say `run-` */
export function recordedHistories(prefix = ''): string[] {
  return readdirSync(HISTORIES)
    .filter((name) => name.startsWith(prefix))
    .sort();
}

/** Keeps a workflow's history for the replay tests. @param name of the file, without `.json` */
export async function recordHistory(workflow: WorkflowHandle, name: string): Promise<void> {
  const json = historyToJSON(await workflow.fetchHistory());
  writeFileSync(join(HISTORIES, `${name}.json`), `${json}\n`);
}

export function readHistory(name: string): History {
  return JSON.parse(readFileSync(join(HISTORIES, name), 'utf8')) as History;
}

/** The first payload that an activity was given or a workflow gave back. */
export function decodePayload<T>({ payloads }: Payloads): T {
  return JSON.parse(Buffer.from(payloads[0].data, 'base64').toString()) as T;
}

/** The whole history as text, its payloads decoded. */
export function historyText(name: string): string {
  return JSON.stringify(readHistory(name)).replace(/"data":"([^"]+)"/g, (_, data: string) =>
    Buffer.from(data, 'base64').toString(),
  );
}

type Plugin = BundlerPlugin & WorkerPlugin;

/** Today's workflow code, which replays what earlier releases have recorded. */
export class Replayer {
  private constructor(
    private readonly workflowBundle: WorkflowBundleWithSourceMap,
    private readonly plugins: Plugin[],
  ) {}

  get code(): string {
    return this.workflowBundle.code;
  }

  /** @param workflows a file of workflows/, or `index` for all of them */
  static async bundle(workflows = 'index', plugins: Plugin[] = []): Promise<Replayer> {
    const logger = new DefaultLogger('ERROR');
    Runtime.install({ shutdownSignals: [], logger });
    const workflowsPath = require.resolve(join(__dirname, '..', '..', 'workflows', workflows));
    return new Replayer(await bundleWorkflowCode({ workflowsPath, plugins, logger }), plugins);
  }

  /** @throws DeterminismViolationError if the code would do something else */
  async replay(history: History, workflowId: string): Promise<void> {
    await Worker.runReplayHistory({ workflowBundle: this.workflowBundle, plugins: this.plugins }, history, workflowId);
  }

  async replayRecorded(name: string): Promise<void> {
    await this.replay(readHistory(name), name.replace(/\.json$/, ''));
  }
}
