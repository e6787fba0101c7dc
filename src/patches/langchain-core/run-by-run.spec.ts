import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain';
import { Client } from 'langsmith';
import { expectLibrary } from '../../../test/support/library-guard';
import { runByRun } from './run-by-run';

const PARENT = '00000000-0000-7000-8000-000000000001';
const CHILD = '00000000-0000-7000-8000-000000000002';
const chain = { lc: 1 as const, type: 'not_implemented' as const, id: ['graph'] };

/** A client that sends nothing. */
class SilentClient extends Client {
  override async createRun(): Promise<void> {
    return undefined;
  }
}

async function childrenKeptBy(tracer: LangChainTracer): Promise<number> {
  await tracer.handleChainStart(chain, {}, PARENT);
  await tracer.handleChainStart(chain, {}, CHILD, PARENT);
  return tracer.getRun(PARENT)!.child_runs.length;
}

// What is sent is tested in src/graphs/host/run-tracer.spec.ts.
describe('a tracer run by run', () => {
  it('keeps no child runs in a run, as the library still does', async () => {
    const client = new SilentClient({ apiUrl: 'http://127.0.0.1:9', apiKey: 'none' });
    expectLibrary(
      (await childrenKeptBy(new LangChainTracer({ client }))) === 1,
      'The tracer keeps no child runs: the patch can go.',
    );
    const patched = runByRun(new LangChainTracer({ client }));
    expectLibrary(
      (await childrenKeptBy(patched)) === 0,
      'The tracer keeps child runs by another method than _addChildRun.',
    );
    expectLibrary(
      patched.copyWithTracingConfig({}).copyWithTracingConfig !== LangChainTracer.prototype.copyWithTracingConfig,
      'The library copies tracers by another method than copyWithTracingConfig.',
    );
  });
});
