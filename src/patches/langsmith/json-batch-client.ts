/**
 * @library langsmith 0.12.0
 * @patch Sets the private `_runCompressionDisabled` and overrides `multipartIngestRuns`.
 * @why Each field of each run of a multipart upload is a stream of its own: that took longer than all else about a trace. The
 * library also asks the environment, which belongs to the users, whether runs are compressed one by one.
 * @upstream None known.
 * @remove When the client has an option for batches as JSON.
 */
import { Client } from 'langsmith';

/** A client that sends a batch of runs as one JSON text, unless a run has attachments. */
export class JsonBatchClient extends Client {
  constructor(config: ConstructorParameters<typeof Client>[0]) {
    super(config);
    Object.assign(this, { _runCompressionDisabled: true });
  }

  override async multipartIngestRuns(...[batch, options]: Parameters<Client['multipartIngestRuns']>): Promise<void> {
    const { runCreates = [], runUpdates = [] } = batch;
    if ([...runCreates, ...runUpdates].some(({ attachments }) => attachments)) {
      return super.multipartIngestRuns(batch, options);
    }
    return this.batchIngestRuns({ runCreates, runUpdates }, options);
  }
}
