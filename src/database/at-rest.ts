import { AsyncLocalStorage } from 'node:async_hooks';
import { byteaArray, textArray } from './binary-array';
import type { JsonObject } from './json';

/**
 * Context by which the handlers of the custom encryption choose a key. It is no secret, and is stored beside the encrypted
 * value.
 */
export type EncryptionContext = JsonObject;

/** A value to encrypt. Whose it is and where it stands goes to the handlers. */
export interface SealOperation {
  /** `json`: an object, key by key; `bytes`: anything else, as base64. */
  form: 'json' | 'bytes';
  model: string;
  field: string;
  value: unknown;
  /** The context of the work that encrypts when absent. */
  context?: EncryptionContext | undefined;
}

/** Encrypts what is stored, as `encryption` in langgraph.json says. Values cross processes: bytes are base64 in both directions. */
export interface Cipher {
  /** Resolves to what is to be stored, in the same order; rejects when one of them can't be encrypted. */
  seal(operations: SealOperation[]): Promise<unknown[]>;
  /** Resolves to what was given to `seal`. */
  open(values: unknown[]): Promise<unknown[]>;
  /** The context of the current work, for what is encrypted later in its name. */
  context(): Promise<EncryptionContext>;
}

/** Marks an object whose values are encrypted, as the hosted server does; its value is the context. */
export const CONTEXT_MARK = '__encryption_context__';
/** First bytes of encrypted values: no JSON and no message pack begins with them. */
export const BYTES_MARK = Buffer.from('\0gantry-encrypted\x01');
/** First characters of encrypted text: the columns that hold it have JSON otherwise. */
export const TEXT_MARK = 'gantry-encrypted:';
/** Columns of text that is encrypted as a whole; TypeORM puts the name of a table before theirs. */
const TEXT_COLUMNS = /(?:^|_)(?:data|payload|artifacts|message|answers|response_excerpt)$/;
/** Columns of objects that are encrypted: in all others, such as those of traces, a mark is a caller's own data. */
const OBJECT_COLUMNS =
  /(?:^|_)(?:metadata|config|context|kwargs|values|interrupts|error|payload|auth_user|authUser|value)$/;
/** Levels of nesting at which a marked object may stand in a column. */
const MARK_DEPTH = 3;

let current: Cipher | undefined;
const contexts = new AsyncLocalStorage<EncryptionContext | undefined>();

/** Has this process encrypt what it stores. Called before its first statement. */
export function useCipher(cipher: Cipher | undefined): void {
  current = cipher;
}

/** Undefined: langgraph.json names no encryption. */
export function currentCipher(): Cipher | undefined {
  return current;
}

/** Does `work`, whose values belong to a run or a cron that was created with this context. */
export function inEncryptionContext<T>(context: EncryptionContext | undefined, work: () => T): T {
  return current === undefined ? work() : contexts.run(context ?? {}, work);
}

/** The context that `inEncryptionContext` has set; undefined in a request. */
export function givenEncryptionContext(): EncryptionContext | undefined {
  return contexts.getStore();
}

/** The context of the current work; undefined without encryption, or when it is empty. */
export async function encryptionContext(): Promise<EncryptionContext | undefined> {
  const context = contexts.getStore() ?? (await current?.context());
  return context && Object.keys(context).length > 0 ? context : undefined;
}

/** A parameter of a statement that is encrypted before it is sent, and is sent as it is without encryption. */
export class StoredParameter {
  constructor(
    readonly operations: () => SealOperation[],
    private readonly plain: () => unknown,
    readonly sealed: (results: unknown[]) => unknown,
  ) {}

  /** The parameter that pg sends where nothing is encrypted. */
  toPostgres(): unknown {
    return this.plain();
  }
}

/** @param text of the JSON; null and undefined stay what they are */
export function storedJson<T extends string | null | undefined>(model: string, field: string, text: T) {
  if (text === null || text === undefined) return text;
  return new StoredParameter(
    () => [{ form: 'json', model, field, value: JSON.parse(text) as unknown }],
    () => text,
    ([sealed]) => JSON.stringify(sealed),
  );
}

/** A column of objects, each as JSON text. */
export function storedJsonColumn(model: string, field: string, texts: string[]): StoredParameter {
  return new StoredParameter(
    () => texts.map((text) => ({ form: 'json', model, field, value: JSON.parse(text) as unknown })),
    () => textArray(texts),
    (sealed) => textArray(sealed.map((each) => JSON.stringify(each))),
  );
}

/** A text that is encrypted as a whole. */
export function storedText<T extends string | null | undefined>(model: string, field: string, text: T) {
  if (text === null || text === undefined) return text;
  return new StoredParameter(
    () => [textOperation(model, field, text)],
    () => text,
    ([sealed]) => TEXT_MARK + String(sealed),
  );
}

/** @param contexts of each text; that of the current work when absent */
export function storedTextColumn(
  model: string,
  field: string,
  texts: string[],
  contextsOf: (EncryptionContext | undefined)[] = [],
): StoredParameter {
  return new StoredParameter(
    () => texts.map((text, index) => ({ ...textOperation(model, field, text), context: contextsOf[index] })),
    () => textArray(texts),
    (sealed) => textArray(sealed.map((each) => TEXT_MARK + String(each))),
  );
}

export function storedBytesColumn(model: string, field: string, values: (Buffer | null)[]): StoredParameter {
  return new StoredParameter(
    () => values.flatMap((value) => (value ? [{ form: 'bytes', model, field, value: value.toString('base64') }] : [])),
    () => byteaArray(values),
    (sealed) => {
      const rest = [...sealed];
      return byteaArray(values.map((value) => value && Buffer.from(String(rest.shift()), 'base64')));
    },
  );
}

/** Values as they are stored, where they go to a library that writes them. */
export async function storedBytes<T extends Uint8Array>(
  model: string,
  field: string,
  values: (T | undefined)[],
): Promise<(T | Buffer | undefined)[]> {
  if (!current) return values;
  const given = values.flatMap((value) => (value ? [Buffer.from(value).toString('base64')] : []));
  const sealed = await current.seal(given.map((value) => ({ form: 'bytes', model, field, value })));
  return values.map((value) => value && Buffer.from(String(sealed.shift()), 'base64'));
}

/** An object as it is stored, where it goes to a library that writes it. */
export async function storedObject(model: string, field: string, value: unknown): Promise<unknown> {
  if (!current) return value;
  const [sealed] = await current.seal([{ form: 'json', model, field, value }]);
  return sealed;
}

function textOperation(model: string, field: string, text: string): SealOperation {
  return { form: 'bytes', model, field, value: Buffer.from(text).toString('base64') };
}

/** The parameters with those that are to be encrypted encrypted, all in one request. */
export async function sealParameters(cipher: Cipher, values: unknown[]): Promise<unknown[]> {
  const parameters = values.filter((value) => value instanceof StoredParameter);
  const operations = parameters.map((parameter) => parameter.operations());
  const results = await cipher.seal(operations.flat());
  const sealed = new Map<StoredParameter, unknown>();
  for (const [index, parameter] of parameters.entries()) {
    sealed.set(parameter, parameter.sealed(results.splice(0, operations[index].length)));
  }
  return values.map((value) => (value instanceof StoredParameter ? sealed.get(value) : value));
}

/** Puts what was encrypted in the place of what was read, all in one request. */
export async function openRows(cipher: Cipher, rows: Record<string, unknown>[]): Promise<void> {
  const places: Place[] = [];
  for (const row of rows) {
    for (const [column, value] of Object.entries(row)) {
      if (isObject(value) && !OBJECT_COLUMNS.test(column)) continue;
      find(row, column, value, TEXT_COLUMNS.test(column), 0, places);
    }
  }
  if (places.length === 0) return;
  const opened = await cipher.open(places.map(({ sealed }) => sealed));
  for (const [index, { put }] of places.entries()) put(opened[index]);
}

/** Neither text nor bytes, nor a list of them. */
function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !Buffer.isBuffer(value);
}

interface Place {
  sealed: unknown;
  put: (opened: unknown) => void;
}

function find(
  holder: Record<string, unknown>,
  key: string,
  value: unknown,
  isText: boolean,
  depth: number,
  places: Place[],
): void {
  const put = (opened: unknown): void => {
    holder[key] = opened;
  };
  if (typeof value === 'string') {
    if (!isText || !value.startsWith(TEXT_MARK)) return;
    const sealed = value.slice(TEXT_MARK.length);
    places.push({ sealed, put: (opened) => put(Buffer.from(String(opened), 'base64').toString()) });
  } else if (Buffer.isBuffer(value)) {
    if (value.subarray(0, BYTES_MARK.length).equals(BYTES_MARK)) {
      places.push({ sealed: value.toString('base64'), put: (opened) => put(Buffer.from(String(opened), 'base64')) });
    }
  } else if (typeof value === 'object' && value !== null && depth < MARK_DEPTH) {
    if (Object.hasOwn(value, CONTEXT_MARK)) places.push({ sealed: value, put });
    else {
      const inner = value as Record<string, unknown>;
      const hasTexts = isText && Array.isArray(value);
      for (const [name, each] of Object.entries(inner)) find(inner, name, each, hasTexts, depth + 1, places);
    }
  }
}
