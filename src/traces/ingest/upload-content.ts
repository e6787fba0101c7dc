import type { FeedbackValues } from '../feedback/feedback.repository';
import type { RunOperation } from './run-operation';

/** The validated content of an upload of traces. */
export interface UploadContent {
  operations: RunOperation[];
  feedback: FeedbackValues[];
}
