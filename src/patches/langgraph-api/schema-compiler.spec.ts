import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expectLibrary } from '../../../test/support/library-guard';
import { SCHEMA_COMPILER } from './schema-compiler';

// The schemas themselves are tested with real graphs: test/integration.
describe('the schema compiler', () => {
  it('reads files through the copy of TypeScript whose `sys.readFile` is replaced', () => {
    const library = require.resolve('@langchain/langgraph-api/schema');
    const typescript = createRequire(library).resolve('typescript');
    expectLibrary(
      SCHEMA_COMPILER.includes(JSON.stringify(typescript)),
      '@langchain/langgraph-api/schema uses another copy of TypeScript than the one that is watched.',
    );
    const { sys } = createRequire(library)('typescript') as { sys: object };
    expectLibrary(
      Object.getOwnPropertyDescriptor(sys, 'readFile')?.writable === true,
      'TypeScript no longer lets `sys.readFile` be replaced: the files of a schema are unknown.',
    );
    expectLibrary(
      readFileSync(library, 'utf8').includes('getStaticGraphSchema'),
      '@langchain/langgraph-api/schema no longer exports getStaticGraphSchema.',
    );
  });
});
