import { Resource } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';
import { recordedHistories, Replayer } from '../support/replay';

/** Tracing is switched on and off between deploys: histories without it have to replay in a bundle that has it. */
describe('recorded histories, in the bundle of a worker that sends OpenTelemetry traces', () => {
  const plugin = new OpenTelemetryPlugin({
    resource: new Resource({}),
    spanProcessor: new SimpleSpanProcessor(new InMemorySpanExporter()),
  });
  let replayer: Replayer;

  beforeAll(async () => {
    replayer = await Replayer.bundle('index', [plugin]);
  });

  it('have the interceptors', () => {
    expect(replayer.code).toContain('OpenTelemetryInboundInterceptor');
  });

  it.each(recordedHistories())('replay %s', (name) => replayer.replayRecorded(name));
});
