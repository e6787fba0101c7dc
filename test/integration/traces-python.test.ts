import { join } from 'node:path';
import { type ApiProcess, startApiProcess } from '../support/api-process';
import { runPython } from '../support/python';

/** The real Python client against the api process; what it did and read comes back as JSON. */
describe('langsmith for Python', () => {
  let api: ApiProcess;

  beforeAll(async () => {
    api = await startApiProcess();
  });
  afterAll(() => api.close());

  it.each([
    ['zstd', '/api/v1'],
    ['zstd', '/api'],
    ['multipart', '/api/v1'],
    ['batch', '/api/v1'],
    ['batch', ''],
    ['zstd', ''],
  ])('traces and reads by %s at %s', async (transport, base) => {
    const project = `py ${transport} ${base}`;
    const script = join(__dirname, '..', 'python', 'traces_client.py');
    const output = await runPython([script, api.url + base, project, transport], { LANGSMITH_TRACING: 'true' });
    expect(JSON.parse(output)).toEqual({
      names: ['failing', 'leaf', 'root', 'single'],
      roots: ['root', 'single'],
      failed: [['failing', expect.stringContaining('ValueError')]],
      filtered: ['leaf'],
      single: { status: 'success', inputs: { a: 1 }, total_tokens: 3, run_type: 'llm' },
      children: ['failing', 'leaf'],
      metadata_thread: 'thread-1',
      outputs: { text: 'answer to why?' },
      ended: true,
      stats: { run_count: 4, total_tokens: 3 },
      session_run_count: 4,
      listed: true,
      missing: false,
      description: 'described',
      compressed: transport === 'zstd',
      feedback: [['quality', 0.5, 'fine']],
    });
  });
});
