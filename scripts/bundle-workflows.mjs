// The last step of `npm run build`: makes dist/workflow-bundle.js, so that a worker starts without bundling. With
// `--traced` it makes the one of workers that send OpenTelemetry traces, which bundle at their start where it is absent.
import './services/runtime.mjs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { sourceHash, writeBuildStamp } from './services/build.mjs';
import { ROOT } from './services/paths.mjs';

const isTraced = process.argv.includes('--traced');
const interceptors = '@temporalio/interceptors-opentelemetry/lib/workflow-interceptors';

try {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(ROOT, 'dist', 'workflows', 'index.js'),
    workflowInterceptorModules: isTraced ? [createRequire(import.meta.url).resolve(interceptors)] : [],
    // Its progress lines would hide the compiler's.
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error },
  });
  await writeFile(join(ROOT, 'dist', isTraced ? 'workflow-bundle-traced.js' : 'workflow-bundle.js'), code);
  if (!isTraced) writeBuildStamp(sourceHash());
} catch (error) {
  console.error(`The workflows could not be bundled: ${error.message}`);
  process.exitCode = 1;
}
