import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectLibrary } from '../../../test/support/library-guard';

describe('text files', () => {
  it('are imported and required by modules of both kinds', () => {
    const folder = mkdtempSync(join(tmpdir(), 'texts-'));
    try {
      writeFileSync(join(folder, 'prompt.md'), 'Hello');
      writeFileSync(join(folder, 'module.mjs'), `import text from './prompt.md'; process.stdout.write(text);`);
      writeFileSync(join(folder, 'common.cjs'), `process.stdout.write(require('./prompt.md'));`);
      // A process of its own, since jest has a loader of its own. Node strips the types.
      const script = `
        require(${JSON.stringify(join(__dirname, 'text-imports.ts'))}).importTexts();
        import('./module.mjs').then(() => require('./common.cjs'));`;
      const output = execFileSync(process.execPath, ['-e', script], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
      expectLibrary(output === 'HelloHello', `Node imports texts otherwise than the patch takes it to: ${output}`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
