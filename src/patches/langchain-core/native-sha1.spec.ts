import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expectLibrary } from '../../../test/support/library-guard';

describe("the library's SHA-1", () => {
  it.each([
    ['CommonJS', `Promise.resolve(require('@langchain/core/utils/uuid'))`],
    ['an ES module', `import('@langchain/core/utils/uuid')`],
  ])('is computed by Node in %s, with the same result', (_, load) => {
    // A process of its own, since jest has a loader of its own. Node strips the types.
    const script = `
      require(${JSON.stringify(join(__dirname, 'native-sha1.ts'))}).hashNatively();
      const crypto = require('node:crypto');
      const native = crypto.hash;
      let calls = 0;
      crypto.hash = (...asked) => { calls += 1; return native(...asked); };
      require('node:module').syncBuiltinESMExports();
      ${load}.then(({ v5 }) => console.log(v5('www.example.com', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'), calls));`;
    const output = execFileSync(process.execPath, ['-e', script], { cwd: __dirname, encoding: 'utf8', stdio: 'pipe' });
    // The example of RFC 9562, appendix A.4.
    expectLibrary(
      output === '2ed6657d-e927-568b-95e1-2665a8aea6a2 1\n',
      `LangChain names by SHA-1 otherwise than the patch takes it to: ${output}`,
    );
  });
});
