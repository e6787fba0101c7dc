import { BYTES_MARK, CONTEXT_MARK, type EncryptionContext, type SealOperation } from '../database/at-rest';
import { isJsonObject, type JsonObject } from '../database/json';

/** A call of one handler. `data` is an object, or bytes as base64. */
export interface HandlerCall {
  kind: 'encrypt-json' | 'decrypt-json' | 'encrypt-blob' | 'decrypt-blob';
  model: string | null;
  field: string | null;
  context: EncryptionContext;
  data: unknown;
}

export type CallHandlers = (calls: HandlerCall[]) => Promise<unknown[]>;

/** Where a value that is no object stands in the object that the handler gets for it. */
const WRAPPED = '__encryption_wrapped__';
/** Names the keys of an encrypted object that aren't encrypted because of its place, which is unknown when it is decrypted. */
export const PLAIN_MARK = '__encryption_plain__';

/** Objects inside of objects that are encrypted by themselves, so that SQL finds and merges them as without encryption. */
const NESTED: Record<string, readonly string[]> = {
  'run.kwargs': ['input', 'command', 'config', 'context', 'auth_user'],
  'run.config': ['configurable', 'metadata'],
  'cron.payload': ['input', 'command', 'config', 'context', 'metadata'],
  'cron.config': ['configurable', 'metadata'],
  'assistant.config': ['configurable'],
  'thread.config': ['configurable'],
};

/** Objects of which only the nested ones are a caller's; the others are arguments that Gantry reads in SQL. */
const FRAMES: ReadonlySet<string> = new Set(['run.kwargs', 'cron.payload']);

/** Ids and marks that Gantry and LangGraph search by. The hosted server leaves the same keys to be read. */
const NEVER_ENCRYPTED: ReadonlySet<string> = new Set([
  ...['thread_id', 'run_id', 'assistant_id', 'graph_id', 'checkpoint_id', 'task_id', 'cron_id', 'revision_id'],
  ...['__pregel_checkpointer', '__pregel_resuming', '__pregel_durability', '__pregel_stream', '__pregel_task_id'],
  ...['__pregel_checkpoint_ns', 'langgraph_version', 'langgraph_api_version', 'langgraph_plan', 'langgraph_host'],
  ...['langgraph_api_url', 'langgraph_request_id', 'langgraph_auth_user_id', 'langgraph_auth_permissions'],
]);
/** The same for one place: `model.field` → keys. */
const NEVER_ENCRYPTED_IN: Record<string, ReadonlySet<string>> = {
  'run.config': new Set(['recursion_limit', 'max_concurrency']),
  'checkpoint.metadata': new Set([
    'source',
    'step',
    'parents',
    'run_attempt',
    'attempt',
    'counters_since_delta_snapshot',
    'delta_writes_versioned',
  ]),
};
/** Levels at which a caller's object must not bear the mark. */
const CHECKED_DEPTH = 4;

/** A value that can't be encrypted or decrypted, in words that may be shown to a caller. */
export class EncryptionRefused extends Error {}

/** @throws {EncryptionRefused} when a value bears the mark already, or a handler changed the keys */
export async function sealValues(operations: SealOperation[], context: EncryptionContext, call: CallHandlers) {
  const calls: HandlerCall[] = [];
  const seals = operations.map((operation) => {
    const own = { ...operation, context: operation.context ?? context };
    return own.form === 'json' ? sealJson(own, calls) : sealBytes(own, calls);
  });
  const results = calls.length > 0 ? await call(calls) : [];
  return seals.map((finish) => finish(results));
}

type Own = SealOperation & { context: EncryptionContext };
/** Makes what is stored of the answers of the handlers. */
type Finish = (results: unknown[]) => unknown;

function sealBytes({ model, field, context, value }: Own, calls: HandlerCall[]): Finish {
  const at = calls.push({ kind: 'encrypt-blob', model, field, context, data: value }) - 1;
  return (results) => {
    const head = Buffer.from(JSON.stringify([model, field, context]));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(head.length);
    return Buffer.concat([BYTES_MARK, length, head, Buffer.from(String(results[at]), 'base64')]).toString('base64');
  };
}

function sealJson({ model, field, context, value }: Own, calls: HandlerCall[]): Finish {
  if (value === null || value === undefined) return () => value;
  if (!isJsonObject(value)) {
    const wrapped = sealJson({ form: 'json', model, field, context, value: { value } }, calls);
    return (results) => ({ ...(wrapped(results) as JsonObject), [WRAPPED]: true });
  }
  checkUnmarked(value, `${model}.${field}`);
  const place = `${model}.${field}`;
  const nested = (NESTED[place] ?? []).filter((name) => value[name] !== undefined && value[name] !== null);
  const inner = nested.map((name): [string, Finish] => {
    return [name, sealJson({ form: 'json', model, field: name, context, value: value[name] }, calls)];
  });
  const isPlainHere = (name: string): boolean => NEVER_ENCRYPTED_IN[place]?.has(name) ?? false;
  const isPlain = (name: string): boolean => NEVER_ENCRYPTED.has(name) || isPlainHere(name);
  const rest = Object.entries(value).filter(([name]) => !nested.includes(name));
  const plain = Object.fromEntries(rest.filter(([name]) => FRAMES.has(place) || isPlain(name)));
  const given = Object.fromEntries(rest.filter(([name]) => !Object.hasOwn(plain, name)));
  const plainHere = Object.keys(plain).filter(isPlainHere);
  // Of nothing there is nothing to hide, and an empty object is one that SQL compares.
  const at = Object.keys(given).length > 0 && calls.push({ kind: 'encrypt-json', model, field, context, data: given });
  return (results) => ({
    ...plain,
    ...(at && { ...sameKeys(given, results[at - 1]), [CONTEXT_MARK]: context }),
    ...(at && plainHere.length > 0 && { [PLAIN_MARK]: plainHere }),
    ...Object.fromEntries(inner.map(([name, finish]) => [name, finish(results)])),
  });
}

function checkUnmarked(value: unknown, place: string, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > CHECKED_DEPTH) return;
  const reserved = [CONTEXT_MARK, PLAIN_MARK].find((mark) => Object.hasOwn(value, mark));
  if (reserved !== undefined) {
    throw new EncryptionRefused(`${place}: the key ${reserved} is reserved for encrypted values: rename it`);
  }
  for (const each of Object.values(value)) checkUnmarked(each, place, depth + 1);
}

function sameKeys(given: JsonObject, sealed: unknown): JsonObject {
  const keys = (of: object): string => Object.keys(of).sort().join('\n');
  if (!isJsonObject(sealed) || keys(sealed) !== keys(given)) {
    throw new EncryptionRefused(
      'The JSON encryptor of encryption.path returned other keys than it was given: it may change values alone, ' +
        'since SQL merges these objects key by key',
    );
  }
  return sealed;
}

/** @param values marked objects, or base64 of marked bytes */
export async function openValues(values: unknown[], call: CallHandlers): Promise<unknown[]> {
  const calls: HandlerCall[] = [];
  const opens = values.map((value) => (typeof value === 'string' ? openBytes(value, calls) : openJson(value, calls)));
  const results = calls.length > 0 ? await call(calls) : [];
  return opens.map((finish) => finish(results));
}

function openBytes(value: string, calls: HandlerCall[]): Finish {
  const bytes = Buffer.from(value, 'base64');
  const from = BYTES_MARK.length + 4;
  const length = bytes.length >= from ? bytes.readUInt32BE(BYTES_MARK.length) : 0;
  const [model, field, context] = readHead(bytes.subarray(from, from + length).toString());
  const data = bytes.subarray(from + length).toString('base64');
  const at = calls.push({ kind: 'decrypt-blob', model, field, context, data }) - 1;
  return (results) => results[at];
}

function readHead(text: string): [string, string, EncryptionContext] {
  try {
    return JSON.parse(text) as [string, string, EncryptionContext];
  } catch {
    throw new EncryptionRefused('A stored value has the mark of what is encrypted and was not encrypted by Gantry');
  }
}

function openJson(value: unknown, calls: HandlerCall[]): Finish {
  if (!isJsonObject(value)) return () => value;
  const { [CONTEXT_MARK]: mark, [PLAIN_MARK]: plainHere, [WRAPPED]: isWrapped, ...fields } = value;
  const kept = new Set(Array.isArray(plainHere) ? plainHere : []);
  const isPlain = (name: string): boolean => NEVER_ENCRYPTED.has(name) || kept.has(name);
  const isMarked = (each: unknown): boolean => isJsonObject(each) && Object.hasOwn(each, CONTEXT_MARK);
  const inner = Object.entries(fields).filter(([, each]) => isMarked(each));
  const rest = Object.entries(fields).filter(([, each]) => !isMarked(each));
  const finishes = inner.map(([name, each]): [string, Finish] => [name, openJson(each, calls)]);
  const plain = Object.fromEntries(rest.filter(([name]) => isPlain(name)));
  const given = Object.fromEntries(rest.filter(([name]) => !isPlain(name)));
  const context = isJsonObject(mark) ? mark : {};
  // A statement may have moved it: what it was encrypted as is not known.
  const at =
    isJsonObject(mark) &&
    Object.keys(given).length > 0 &&
    calls.push({ kind: 'decrypt-json', model: null, field: null, context, data: given });
  return (results) => {
    const opened = {
      ...plain,
      ...(at ? (results[at - 1] as JsonObject) : given),
      ...Object.fromEntries(finishes.map(([name, finish]) => [name, finish(results)])),
    };
    return isWrapped === true && 'value' in opened ? opened.value : opened;
  };
}
