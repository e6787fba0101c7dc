import { parseExactly } from '../../http/exact-json';
import { checkJson, TRACE_LIMITS } from '../../http/json-limits';
import type { Attachment } from '../attachments/attachments.service';
import { Instant } from '../instant';
import { storableText } from '../../database/storable-text';
import { traceErrors } from '../trace.errors';
import { MultipartPart, textOf } from './multipart';
import { OperationKind } from './run-merge';
import { OUT_OF_BAND, OutOfBandField, readOperation, RunOperation } from './run-operation';

export interface MultipartContent {
  operations: RunOperation[];
  /** Feedback bodies under the ids in their parts' names. */
  feedback: { id: string; body: Record<string, unknown> }[];
  attachments: Attachment[];
}

const PART_NAME =
  /^(post|patch|feedback|attachment)\.([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:\.(.+))?$/is;

interface Assembly {
  kind: OperationKind;
  runId: string;
  /** Undefined until the main part came. */
  body?: Record<string, unknown>;
  outOfBand: Partial<Record<OutOfBandField, string>>;
}

/** Reads parts as JSON within the limits of one request: many small ones may not cost more than one that is large. */
class JsonParts {
  private tokens = TRACE_LIMITS.tokens;

  /** @throws {ApiError} 422 */
  text(part: MultipartPart): string {
    const text = textOf(part);
    this.tokens -= checkJson(text, { depth: TRACE_LIMITS.depth, tokens: this.tokens }, part.name);
    return text;
  }

  /** @throws {ApiError} 422 */
  object(part: MultipartPart): Record<string, unknown> {
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
 * Puts the parts `<event>.<id>[.<field>]` together: a run's main part and its large fields in any order, feedback and
 * attachments.
 * @throws {ApiError} 422 naming the part that is wrong: nothing of a request is dropped silently.
 */
export function readParts(parts: MultipartPart[], receivedAt: Instant): MultipartContent {
  const json = new JsonParts();
  const assemblies: Assembly[] = [];
  const open = new Map<string, Assembly>();
  const content: MultipartContent = { operations: [], feedback: [], attachments: [] };
  for (const part of parts) {
    const [, event, rawId, field] = PART_NAME.exec(part.name) ?? [];
    if (!event || !rawId) {
      throw traceErrors.invalid(part.name, 'a part is named post|patch|feedback|attachment.<uuid>[.<field>]');
    }
    const id = rawId.toLowerCase();
    switch (event.toLowerCase()) {
      case 'feedback':
        content.feedback.push({ id, body: json.object(part) });
        break;
      case 'attachment':
        if (!field) throw traceErrors.invalid(part.name, 'an attachment needs a name: attachment.<run id>.<name>');
        content.attachments.push({ runId: id, name: storableText(field), mimeType: part.contentType, content: part });
        break;
      default:
        collect(json, assemblies, open, event.toLowerCase() as OperationKind, id, field, part);
    }
  }
  for (const { kind, runId, body = {}, outOfBand } of assemblies) {
    content.operations.push(readOperation({ kind, runId, body, outOfBand, receivedAt, path: `${kind}.${runId}` }));
  }
  return content;
}

function collect(
  json: JsonParts,
  assemblies: Assembly[],
  open: Map<string, Assembly>,
  kind: OperationKind,
  runId: string,
  field: string | undefined,
  part: MultipartPart,
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
