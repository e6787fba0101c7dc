// node sdk-download.mjs dev-server|time-skipping <directory>
// The SDK has no call that only downloads: its test environment is started from the download and closed again.
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [kind, downloadDir] = process.argv.slice(2);
const server = { executable: { type: /** @type {const} */ ('cached-download'), downloadDir } };
try {
  const environment =
    kind === 'dev-server'
      ? await TestWorkflowEnvironment.createLocal({ server })
      : await TestWorkflowEnvironment.createTimeSkipping({ server });
  await environment.teardown();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
