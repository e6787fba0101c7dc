import type { FeedbackValues } from '../feedback/feedback.repository';
import type { RunOperation } from './run-operation';

/** What a body of traces asks for, checked. */
export interface UploadContent {
  operations: RunOperation[];
  feedback: FeedbackValues[];
}
