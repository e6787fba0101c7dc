/**
 * Converts a value so that `JSON.stringify` writes it as the subclass specifies. A replacer would be called for each key, and
 * only after `toJSON`. Cycles become text; values that need no change are not copied.
 */
export abstract class JsonForm {
  /** The objects around the value at hand. */
  private readonly path: object[] = [];

  /** @param absent the form of undefined */
  constructor(private readonly absent?: unknown) {}

  /** @param key name or index under which the value stands, for its `toJSON` */
  of(key: string | number, value: unknown): unknown {
    if (typeof value === 'object' && value !== null) {
      if (this.path.includes(value)) return '[Circular]';
      this.path.push(value);
      const form = this.inside(key, value);
      this.path.pop();
      return form;
    }
    if (value === undefined) return this.absent;
    return typeof value === 'bigint' ? value.toString() : value;
  }

  protected abstract ofInstance(value: object): unknown;

  private inside(key: string | number, value: object): unknown {
    if (Array.isArray(value)) return this.items(value);
    if (!isPlain(value)) {
      const form = this.ofInstance(value);
      if (form !== undefined) return form;
    }
    if (hasOwnJson(value)) {
      const json = value.toJSON(String(key));
      // An object that contains itself is replaced by text.
      return json === value ? this.fields({ ...value, toJSON: undefined }) : this.of(key, json);
    }
    return this.fields(value as Record<string, unknown>);
  }

  /** Returns the same array if no item changes, since most of a state is plain. */
  protected items(items: unknown[]): unknown[] {
    let forms: unknown[] | undefined;
    for (let index = 0; index < items.length; index += 1) {
      const form = this.of(index, items[index]);
      if (form !== items[index]) (forms ??= [...items])[index] = form;
    }
    return forms ?? items;
  }

  protected fields(fields: Record<string, unknown>): Record<string, unknown> {
    let forms: Record<string, unknown> | undefined;
    for (const key of Object.keys(fields)) {
      const form = this.of(key, fields[key]);
      if (form !== fields[key]) setField((forms ??= { ...fields }), key, form);
    }
    return forms ?? fields;
  }
}

function hasOwnJson(value: object): value is { toJSON(key: string): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

/** Sets a field whatever its name is: an assignment to `__proto__` would change the object's prototype. */
export function setField(fields: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    fields[key] = value;
  }
}

/** Whether an object is data alone: of no class, in whichever realm it was made. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
