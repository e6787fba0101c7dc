import { parseExactly } from '../../http/exact-json';
import { checkJson, TRACE_LIMITS } from '../../http/json-limits';
import { storableText } from '../../database/storable-text';
import type { Attachment } from '../attachments/attachments.service';
import type { FeedbackValues } from '../feedback/feedback.repository';
import { readFeedbackPart } from '../feedback/feedback-values';
import type { Instant } from '../instant';
import { MAX_NAME_LENGTH, NAME_RULE } from '../stored-text';
import { traceErrors } from '../trace.errors';
import type { MultipartPart } from './multipart';
import type { OperationKind } from './run-merge';
import { OUT_OF_BAND, OutOfBandField, readOperation } from './run-operation';
import type { UploadContent } from './upload-content';

/** A part whose content follows that of the previous part. */
export interface PartName {
  name: string;
  size: number;
}

const PART_NAME =
  /^(post|patch|feedback|attachment)\.([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:\.(.+))?$/is;

interface Part {
  name: string;
  content: Buffer;
}

interface Assembly {
  kind: OperationKind;
  runId: string;
  /** Undefined until the main part came. */
  body?: Record<string, unknown>;
  outOfBand: Partial<Record<OutOfBandField, string>>;
}

/** Parses parts as JSON within the limits of one request: many small parts must not cost more than a large one. */
class JsonParts {
  private tokens = TRACE_LIMITS.tokens;

  /** @throws {ApiError} 422 */
  text({ name, content }: Part): string {
    const text = content.toString('utf8');
    this.tokens -= checkJson(text, { depth: TRACE_LIMITS.depth, tokens: this.tokens }, name);
    return text;
  }

  /** @throws {ApiError} 422 */
  object(part: Part): Record<string, unknown> {
    const text = this.text(part);
    let value: unknown;
    try {
      value = parseExactly(text);
    } catch {
      throw traceErrors.invalid(part.name, 'the part is not JSON');
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw traceErrors.invalid(part.name, 'the part is not a JSON object');
    }
    return value as Record<string, unknown>;
  }
}

/**
 * Separates the attachments from the parts that are parsed.
 * @throws {ApiError} 422
 */
export function separateAttachments(parts: MultipartPart[]): { attachments: Attachment[]; parsed: MultipartPart[] } {
  const attachments: Attachment[] = [];
  const parsed: MultipartPart[] = [];
  for (const part of parts) {
    const [, event, runId, field] = PART_NAME.exec(part.name) ?? [];
    if (!runId || event?.toLowerCase() !== 'attachment') {
      parsed.push(part);
      continue;
    }
    if (!field) throw traceErrors.invalid(part.name, 'an attachment needs a name: attachment.<run id>.<name>');
    if (field.length > MAX_NAME_LENGTH) throw traceErrors.invalid(part.name, `the attachment's name ${NAME_RULE}`);
    const name = storableText(field);
    attachments.push({ runId: runId.toLowerCase(), name, mimeType: part.contentType, content: part });
  }
  return { attachments, parsed };
}

/**
 * Assembles the parts `<event>.<id>[.<field>]`: a run's main part and its large fields in any order, and feedback.
 * @throws {ApiError} 422 naming the invalid part: nothing of a request is dropped silently
 */
export function readParts(body: Buffer, names: PartName[], receivedAt: Instant): UploadContent {
  const json = new JsonParts();
  const assemblies: Assembly[] = [];
  const open = new Map<string, Assembly>();
  const feedback: FeedbackValues[] = [];
  let end = 0;
  for (const { name, size } of names) {
    const part: Part = { name, content: body.subarray(end, (end += size)) };
    const [, event, rawId, field] = PART_NAME.exec(name) ?? [];
    if (!event || !rawId) {
      throw traceErrors.invalid(name, 'a part is named post|patch|feedback|attachment.<uuid>[.<field>]');
    }
    const id = rawId.toLowerCase();
    if (event.toLowerCase() === 'feedback') feedback.push(readFeedbackPart(id, json.object(part)));
    else collect(json, assemblies, open, event.toLowerCase() as OperationKind, id, field, part);
  }
  const operations = assemblies.map(({ kind, runId, body: main = {}, outOfBand }) =>
    readOperation({ kind, runId, body: main, outOfBand, receivedAt, path: `${kind}.${runId}` }),
  );
  return { operations, feedback };
}

function collect(
  json: JsonParts,
  assemblies: Assembly[],
  open: Map<string, Assembly>,
  kind: OperationKind,
  runId: string,
  field: string | undefined,
  part: Part,
): void {
  const key = `${kind}.${runId}`;
  let assembly = open.get(key);
  // A second main part begins a second operation on the run.
  if (!assembly || (field === undefined && assembly.body)) {
    assembly = { kind, runId, outOfBand: {} };
    assemblies.push(assembly);
    open.set(key, assembly);
  }
  if (field === undefined) {
    assembly.body = json.object(part);
  } else if ((OUT_OF_BAND as readonly string[]).includes(field)) {
    assembly.outOfBand[field as OutOfBandField] = json.text(part);
  } else {
    throw traceErrors.invalid(part.name, `a run has no field of its own part named ${field}`);
  }
}
