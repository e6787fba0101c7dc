// The last step of `npm run build`: makes dist/workflow-bundle.js, so that a worker starts without bundling.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { sourceHash, writeBuildStamp } from './services/build.mjs';
import { ROOT } from './services/paths.mjs';

try {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(ROOT, 'dist', 'workflows', 'index.js'),
    // Its progress lines would bury the compiler's.
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error },
  });
  await writeFile(join(ROOT, 'dist', 'workflow-bundle.js'), code);
  writeBuildStamp(sourceHash());
} catch (error) {
  console.error(`The workflows could not be bundled: ${error.message}`);
  process.exitCode = 1;
}
