import type { z } from 'zod';
import { invalidJson, invalidRequest } from '../../http/api-error';
import { joined } from '../../http/body-blocks';
import { parseExactly } from '../../http/exact-json';
import { checkJson, TRACE_LIMITS } from '../../http/json-limits';
import type { Instant } from '../instant';
import { readSpans } from '../otel/otlp-runs';
import { traceErrors } from '../trace.errors';
import { PartName, readParts } from './multipart-operations';
import { OperationKind, weightOf } from './run-merge';
import { readOperation, RunOperation } from './run-operation';
import type { UploadContent } from './upload-content';
import { runBatchSchema, runBodySchema } from './trace-ingest.schemas';

/** The bytes of a request in the form that its route takes. Structured clone copies it: see upload-thread.ts. */
export type Upload = { body: Uint8Array[] } & (
  | { form: 'post' }
  | { form: 'patch'; runId: string }
  | { form: 'batch' }
  | { form: 'multipart'; parts: PartName[] }
  | { form: 'otlp'; encoding: 'json' | 'protobuf'; project: string | undefined }
);

/** Enough for the largest batches of LangSmith's clients (20 MB), even with runs of only 400 bytes. */
const MAX_OPERATIONS = 50_000;

/** Maximum size of a run, which the writing process handles as a whole. LangSmith accepts up to 25 MB. */
const MAX_RUN_CHARACTERS = 32 * 1024 * 1024;

/**
 * Parses and checks a whole upload without a pause, which takes seconds for the largest.
 * @throws {ApiError} 4xx naming the invalid field
 */
export function readUpload(upload: Upload, receivedAt: Instant): UploadContent {
  const content = readForm(upload, receivedAt);
  if (content.operations.length > MAX_OPERATIONS) throw traceErrors.tooManyRuns(MAX_OPERATIONS);
  for (const { runId, change } of content.operations) {
    if (weightOf(change) > MAX_RUN_CHARACTERS) throw traceErrors.runTooLarge(runId, MAX_RUN_CHARACTERS);
  }
  return content;
}

function readForm(upload: Upload, receivedAt: Instant): UploadContent {
  const read = (kind: OperationKind, body: Record<string, unknown>, path: string, runId?: string): RunOperation =>
    readOperation({ kind, runId, body, outOfBand: {}, receivedAt, path });
  const only = (operations: RunOperation[]): UploadContent => ({ operations, feedback: [] });
  const bytes = joined(upload.body.map(asBuffer));
  switch (upload.form) {
    case 'post':
      return only([read('post', checked(runBodySchema, jsonOf(bytes)), '')]);
    case 'patch':
      return only([read('patch', checked(runBodySchema, jsonOf(bytes)), '', upload.runId)]);
    case 'batch': {
      const { post, patch } = checked(runBatchSchema, jsonOf(bytes));
      return only([
        ...(post ?? []).map((body, index) => read('post', body, `post.${index}`)),
        ...(patch ?? []).map((body, index) => read('patch', body, `patch.${index}`)),
      ]);
    }
    case 'multipart':
      return readParts(bytes, upload.parts, receivedAt);
    case 'otlp': {
      const bodies = readSpans(upload.encoding === 'json' ? { json: jsonOf(bytes) } : bytes, upload.project);
      return only(bodies.map((body, index) => read('post', body, `post.${index}`)));
    }
  }
}

function jsonOf(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  checkJson(text, TRACE_LIMITS);
  try {
    return parseExactly(text);
  } catch (error) {
    throw invalidJson(error as Error);
  }
}

function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const { data, error } = schema.safeParse(value);
  if (error) throw invalidRequest(error.issues);
  return data as T;
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
