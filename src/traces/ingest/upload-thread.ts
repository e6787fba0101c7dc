/** The thread in which large uploads are parsed: upload-reader.ts starts it. */
import { parentPort } from 'node:worker_threads';
import { ApiError } from '../../http/api-error';
import { weigh } from '../feedback/feedback-values';
import type { Instant } from '../instant';
import { weightOf } from './run-merge';
import { slices } from './slices';
import type { UploadContent } from './upload-content';
import { readUpload, Upload } from './upload';

export type ToThread =
  | { type: 'read'; upload: Upload; receivedAt: Instant }
  /** The receiver has taken the last portion. */
  | { type: 'next' };

export type FromThread =
  /** Portions are small, since the receiver copies each without a pause. */
  | { type: 'portion'; portion: UploadContent }
  | { type: 'end' }
  | { type: 'refused'; refusal: Refusal }
  | { type: 'failed'; stack: string };

/** The fields of an ApiError, which loses its class between threads. */
export type Refusal = Pick<ApiError, 'status' | 'code' | 'detail' | 'errors'>;

const port = parentPort!;
let answers: Iterator<FromThread> | undefined;

port.on('message', (message: ToThread) => {
  if (message.type === 'read') answers = answer(message.upload, message.receivedAt);
  const next = answers?.next();
  if (next && !next.done) port.postMessage(next.value);
});

function* answer(upload: Upload, receivedAt: Instant): Generator<FromThread> {
  try {
    const { operations, feedback } = readUpload(upload, receivedAt);
    for (const some of slices(operations, ({ change }) => weightOf(change))) {
      yield { type: 'portion', portion: { operations: some, feedback: [] } };
    }
    for (const some of slices(feedback, weigh)) yield { type: 'portion', portion: { operations: [], feedback: some } };
    yield { type: 'end' };
  } catch (error) {
    if (error instanceof ApiError) {
      const { status, code, detail, errors } = error;
      yield { type: 'refused', refusal: { status, code, detail, errors } };
    } else {
      yield { type: 'failed', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  }
}
