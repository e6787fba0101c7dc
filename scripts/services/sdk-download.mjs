// node sdk-download.mjs dev-server|time-skipping <directory>
// The SDK has no call that only downloads: its test environment is started from the download and closed again.
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [kind, downloadDir] = process.argv.slice(2);
const server = { executable: { type: 'cached-download', downloadDir } };
const environment =
  kind === 'dev-server'
    ? await TestWorkflowEnvironment.createLocal({ server })
    : await TestWorkflowEnvironment.createTimeSkipping({ server });
await environment.teardown();
