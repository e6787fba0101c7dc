import { Client } from 'langsmith';
import { expectLibrary } from '../../../test/support/library-guard';
import { JsonBatchClient } from './json-batch-client';

// What is sent is tested in src/graphs/host/run-tracer.spec.ts.
describe("LangSmith's client", () => {
  it('has the method that the patch replaces', () => {
    const client = new JsonBatchClient({ apiUrl: 'http://127.0.0.1:9', apiKey: 'none' });
    const theirs = new Client({ apiUrl: 'http://127.0.0.1:9', apiKey: 'none' });
    expectLibrary(
      Client.toString().includes('_runCompressionDisabled') || '_runCompressionDisabled' in theirs,
      'Client has no `_runCompressionDisabled`: runs may be compressed one by one.',
    );
    for (const name of ['multipartIngestRuns', 'batchIngestRuns'] as const) {
      expectLibrary(typeof theirs[name] === 'function', `Client has no method ${name}.`);
    }
    expect(client).toHaveProperty('_runCompressionDisabled', true);
  });
});
