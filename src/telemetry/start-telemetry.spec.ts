import { loadConfig } from '../config/config';
import { startTelemetry, telemetry } from './start-telemetry';

const created = jest.fn(() => 'telemetry');
jest.mock('./otlp-telemetry', () => ({ createTelemetry: () => created() }));

const configOf = (env: Record<string, string>) =>
  loadConfig({
    DATABASE_URL: 'postgres://localhost/x',
    TEMPORAL_ADDRESS: 'localhost:1',
    GANTRY_SECRET_KEY: Buffer.alloc(32).toString('base64'),
    ...env,
  });

describe('telemetry', () => {
  it('is off unless there is an endpoint to send it to', () => {
    const environments: Record<string, string>[] = [
      {},
      { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
      { OTEL_SERVICE_NAME: 'x' },
    ];
    for (const env of environments) {
      expect(startTelemetry(configOf(env), 'api')).toBeUndefined();
      expect(telemetry()).toBeUndefined();
    }
    expect(created).not.toHaveBeenCalled();
  });

  it.each(['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'])('is on with %s', (name) => {
    expect(startTelemetry(configOf({ [name]: 'http://127.0.0.1:4318' }), 'worker')).toBe('telemetry');
  });
});
