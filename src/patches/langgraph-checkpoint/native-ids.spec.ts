import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expectLibrary } from '../../../test/support/library-guard';

const NAMESPACE = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
/** Ids of version 5 whose variant has each of its four digits, and names beyond ASCII. */
const NAMES = [
  'www.example.com',
  '',
  '["",1,"node"]',
  'näme €',
  '😀',
  ...Array.from({ length: 40 }, (_, at) => `task ${at}`),
];

describe('the ids of tasks', () => {
  it.each([
    ['CommonJS', `Promise.resolve(require('@langchain/langgraph-checkpoint'))`],
    ['an ES module', `import('@langchain/langgraph-checkpoint')`],
  ])('are computed by Node in %s, with the results of the library', (_, load) => {
    // A process of its own, since jest has a loader of its own. Node strips the types.
    const script = `
      const { nativeIds } = require(${JSON.stringify(join(__dirname, 'native-ids.ts'))});
      require(${JSON.stringify(join(__dirname, '../../graphs/host/patched-sources.ts'))}).patchSources([nativeIds]);
      const { v5 } = require('@langchain/core/utils/uuid');
      const bytes = Buffer.from(${JSON.stringify(NAMESPACE.replaceAll('-', ''))}, 'hex');
      ${load}.then(({ uuid5 }) => {
        let refusal;
        try { uuid5('name', '6ba7b810'); } catch (error) { refusal = error.message; }
        const differing = ${JSON.stringify(NAMES)}.filter((name) => uuid5(name, ${JSON.stringify(NAMESPACE)}) !== v5(name, bytes));
        console.log(JSON.stringify([uuid5.name, uuid5('www.example.com', ${JSON.stringify(NAMESPACE)}), differing, refusal]));
      });`;
    const output = execFileSync(process.execPath, ['-e', script], { cwd: __dirname, encoding: 'utf8', stdio: 'pipe' });
    // The id is the example of RFC 9562, appendix A.4.
    const refusal = 'Namespace must be array-like (16 iterable integer values, 0-255)';
    expectLibrary(
      output === `${JSON.stringify(['nativeUuid5', '2ed6657d-e927-568b-95e1-2665a8aea6a2', [], refusal])}\n`,
      `LangGraph names tasks otherwise than the patch takes it to: ${output}`,
    );
  });
});
