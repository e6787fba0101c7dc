/** Collects the parameters of a statement while its text is being put together. */
export class SqlParams {
  readonly values: unknown[] = [];

  /** `first` are the parameters that the statement has already. */
  constructor(...first: unknown[]) {
    this.values.push(...first);
  }

  /** Adds a value and returns its placeholder with its type: `$3::uuid`. */
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}
