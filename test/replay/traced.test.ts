import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Resource } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';
import {
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';

const HISTORIES = join(__dirname, 'histories');

/** Tracing is switched on and off between deploys: histories without it have to replay in a bundle that has it. */
describe('recorded histories, in the bundle of a worker that sends OpenTelemetry traces', () => {
  const plugin = new OpenTelemetryPlugin({
    resource: new Resource({}),
    spanProcessor: new SimpleSpanProcessor(new InMemorySpanExporter()),
  });
  let workflowBundle: WorkflowBundleWithSourceMap;

  beforeAll(async () => {
    Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') });
    workflowBundle = await bundleWorkflowCode({
      workflowsPath: require.resolve('../../workflows'),
      plugins: [plugin],
      logger: new DefaultLogger('ERROR'),
    });
  }, 120_000);

  it('has the interceptors', () => {
    expect(workflowBundle.code).toContain('OpenTelemetryInboundInterceptor');
  });

  it.each(readdirSync(HISTORIES))('replays %s', async (name) => {
    const history: unknown = JSON.parse(readFileSync(join(HISTORIES, name), 'utf8'));
    await Worker.runReplayHistory({ workflowBundle, plugins: [plugin] }, history, name.replace(/\.json$/, ''));
  });
});
