import { v7 as uuidv7 } from 'uuid';
import { CONTEXT_MARK } from '../../database/at-rest';
import { parseExactly, stringifyExactly } from '../../http/exact-json';
import { parseDottedOrder, uuidTime } from '../dotted-order';
import { Instant, toInstant } from '../instant';
import { ADDRESS_FORM, projectOfAddress } from '../projects/agent-project';
import { traceErrors } from '../trace.errors';
import { CLIENT_RANK, DERIVED_RANK, ExtraColumns, OperationKind, rankOf, RunChange, RunField } from './run-merge';
import { storableText } from '../../database/storable-text';
import { hasStorableNumbers, MAX_NAME_LENGTH, NAME_RULE, NUMBER_RULE, storableJsonb } from '../stored-text';
import { usageOf } from './usage';

/** The fields that are separate parts in multipart requests, as the client's JSON text. */
export const OUT_OF_BAND = ['inputs', 'outputs', 'events', 'extra', 'error', 'serialized'] as const;
export type OutOfBandField = (typeof OUT_OF_BAND)[number];

export const DEFAULT_PROJECT = 'default';

/** How a run names its project until the project is looked up. */
export type ProjectReference = `id:${string}` | `name:${string}`;

export interface RunOperation {
  runId: string;
  change: RunChange;
}

export interface OperationSource {
  kind: OperationKind;
  /** The id in the path or in the part's name, when the body need not carry it. */
  runId?: string;
  body: Record<string, unknown>;
  outOfBand: Partial<Record<OutOfBandField, string>>;
  receivedAt: Instant;
  /** Where the operation stood in the request, for the error's path. */
  path: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Reads one post or patch of a run: its fields become ranked values; missing fields and null are absent.
 * @throws {ApiError} 422 naming the field.
 */
export function readOperation(source: OperationSource): RunOperation {
  const { kind, body, path } = source;
  const at = (field: string): string => (path ? `${path}.${field}` : field);
  const fail = (field: string, message: string): never => {
    throw traceErrors.invalid(at(field), message);
  };
  const id = (field: string): string | undefined => {
    const value = body[field];
    if (value === undefined || value === null || value === '') return undefined;
    return typeof value === 'string' && UUID.test(value) ? value.toLowerCase() : fail(field, `${field} must be a UUID`);
  };
  const text = (field: string): string | undefined => {
    const value = body[field];
    if (value === undefined || value === null) return undefined;
    return typeof value === 'string' ? storableText(value) : fail(field, `${field} must be a string`);
  };
  const instant = (field: string): Instant | undefined => {
    const value = body[field];
    if (value === undefined || value === null) return undefined;
    return toInstant(value) ?? fail(field, `${field} must be an ISO 8601 timestamp`);
  };

  // createRun() of the JavaScript client leaves the id to the server when its user gave none.
  const runId = source.runId ?? id('id') ?? (kind === 'post' ? uuidv7() : fail('id', 'id is required'));
  const endTime = instant('end_time');
  const change: RunChange = {};
  const set = (field: RunField, value: string | undefined, rank?: string): void => {
    if (value !== undefined)
      change[field] = { value, rank: rank ?? rankOf(field, value, kind, endTime, source.receivedAt) };
  };

  set('end_time', endTime);
  set('name', text('name'));
  set('run_type', text('run_type')?.toLowerCase());
  set('reference_example_id', id('reference_example_id'));

  const dottedOrder = given(text('dotted_order'));
  const position = dottedOrder === undefined ? undefined : parseDottedOrder(dottedOrder);
  if (dottedOrder !== undefined && position?.runId !== runId) {
    fail('dotted_order', 'dotted_order must be segments of a time stamp and a run id, the last one of this run');
  }
  const parent = id('parent_run_id') ?? position?.ancestors.at(-1);
  set('dotted_order', dottedOrder);
  if (parent === runId) fail('parent_run_id', 'a run is not its own parent');
  set('parent_run_id', parent);
  set('trace_id', id('trace_id') ?? position?.traceId);
  const startTime = instant('start_time');
  const derived = (): Instant | undefined =>
    position?.startTime ?? uuidTime(runId) ?? (kind === 'post' ? source.receivedAt : undefined);
  set('start_time', startTime ?? derived(), startTime ? undefined : DERIVED_RANK);

  const projectId = id('session_id');
  const sessionName = given(text('session_name'));
  const address = given(text('address'));
  const projectName =
    sessionName ?? (address && (projectOfAddress(address) ?? fail('address', `address must be ${ADDRESS_FORM}`)));
  if (projectName !== undefined && projectName.length > MAX_NAME_LENGTH) {
    const field = sessionName === undefined ? 'address' : 'session_name';
    fail(field, `${field} ${NAME_RULE}`);
  }
  if (projectId) set('project', `id:${projectId}` satisfies ProjectReference);
  else if (projectName !== undefined) set('project', `name:${projectName}` satisfies ProjectReference);
  else if (kind === 'post') set('project', `name:${DEFAULT_PROJECT}` satisfies ProjectReference, DERIVED_RANK);

  const tags = body.tags;
  if (tags !== undefined && tags !== null) {
    if (!Array.isArray(tags)) fail('tags', 'tags must be a list of strings');
    else
      set(
        'tags',
        JSON.stringify(tags.map((tag) => storableText(typeof tag === 'string' ? tag : stringifyExactly(tag)))),
      );
  }

  const parsed = readOutOfBand(source, at);
  for (const field of OUT_OF_BAND) {
    const json = parsed[field];
    if (!json) continue;
    if (field === 'extra' && kind === 'patch' && isOfClient(json.value)) set(field, json.text, CLIENT_RANK);
    else if (field !== 'error') set(field, json.text);
    else if (json.value !== '') set('error', storableText(typeof json.value === 'string' ? json.value : json.text));
  }
  if (change.extra) {
    checkMetadata(parsed.extra?.value, fail);
    change.extra.columns = extraColumns(parsed.extra?.value);
  }
  deriveFrom(parsed, set, change);
  return { runId, change };
}

interface Parsed {
  text: string;
  value: unknown;
}

/** Some clients send an empty string for what they don't have. */
const given = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

/** The large fields, from separate parts or from the body; JSON null counts as absent. */
function readOutOfBand(
  source: OperationSource,
  at: (field: string) => string,
): Partial<Record<OutOfBandField, Parsed>> {
  const parsed: Partial<Record<OutOfBandField, Parsed>> = {};
  for (const field of OUT_OF_BAND) {
    const raw = source.outOfBand[field];
    const inline = source.body[field];
    if (raw !== undefined) {
      let value: unknown;
      try {
        value = field === 'extra' ? parseExactly(raw) : JSON.parse(raw);
      } catch {
        throw traceErrors.invalid(at(field), `${field} is not JSON`);
      }
      if (value !== null) parsed[field] = { text: raw, value };
    } else if (inline !== undefined && inline !== null) {
      parsed[field] = { text: stringifyExactly(inline), value: inline };
    }
  }
  return parsed;
}

/** Values from the run's payloads that are stored in columns: usage, and the time of the first token. */
function deriveFrom(
  parsed: Partial<Record<OutOfBandField, Parsed>>,
  set: (field: RunField, value: string | undefined) => void,
  change: RunChange,
): void {
  const usage = usageOf(parsed.outputs?.value, metadataOf(parsed.extra?.value), change.run_type?.value);
  set('usage', usage && stringifyExactly(usage));
  set('first_token_time', firstTokenTime(parsed.events?.value));
}

/** @param extra parsed, with numbers as they were sent */
export function extraColumns(extra: unknown): ExtraColumns {
  const metadata = metadataOf(extra);
  if (!metadata) return {};
  const threadId = threadIdOf(metadata);
  // In this column it would be taken for the mark of what is encrypted.
  const { [CONTEXT_MARK]: _, ...searched } = metadata;
  return { metadata: storableJsonb(searched), ...(threadId !== undefined && { thread_id: threadId }) };
}

function metadataOf(extra: unknown): Record<string, unknown> | undefined {
  if (typeof extra !== 'object' || extra === null || !('metadata' in extra)) return undefined;
  const { metadata } = extra;
  return typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)
    ? (metadata as Record<string, unknown>)
    : undefined;
}

/** Metadata that LangSmith's clients add to every operation, updates included: their environment, and their rate of sampling. */
const OF_CLIENT = /^(?:LANGCHAIN_|LANGSMITH_|revision_id$|ls_tracing_sample_rate$)/;

/** Whether an `extra` describes the client, and says nothing about the run. */
function isOfClient(extra: unknown): boolean {
  if (typeof extra !== 'object' || extra === null) return false;
  const keys = Object.keys(extra);
  return (
    keys.length > 0 &&
    keys.every((key) => key === 'runtime' || key === 'metadata') &&
    Object.keys(metadataOf(extra) ?? {}).every((key) => OF_CLIENT.test(key))
  );
}

/** Refuses metadata that its columns can't hold: in a statement it would fail all runs of the upload, without a path. */
function checkMetadata(extra: unknown, fail: (field: string, message: string) => never): void {
  const metadata = metadataOf(extra);
  if (!metadata) return;
  const key = threadKeyOf(metadata);
  if (key !== undefined && threadIdOf(metadata)!.length > MAX_NAME_LENGTH) {
    fail(`extra.metadata.${key}`, `${key} ${NAME_RULE}`);
  }
  if (!hasStorableNumbers(metadata)) fail('extra.metadata', `metadata ${NUMBER_RULE}`);
}

/** The id of a conversation, under its names in various clients. */
function threadIdOf(metadata: Record<string, unknown>): string | undefined {
  const key = threadKeyOf(metadata);
  return key === undefined ? undefined : storableText(metadata[key] as string);
}

function threadKeyOf(metadata: Record<string, unknown>): string | undefined {
  return ['session_id', 'conversation_id', 'thread_id'].find((key) => {
    const value = metadata[key];
    return typeof value === 'string' && value !== '';
  });
}

function firstTokenTime(events: unknown): Instant | undefined {
  if (!Array.isArray(events)) return undefined;
  for (const event of events as unknown[]) {
    if (
      typeof event === 'object' &&
      event !== null &&
      'name' in event &&
      event.name === 'new_token' &&
      'time' in event
    ) {
      return toInstant(event.time);
    }
  }
  return undefined;
}
