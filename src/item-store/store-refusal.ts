/** Something a caller of the store may not ask for: told to API clients and to graph code in the same words. */
export class StoreRefusal extends Error {
  constructor(
    /** Dotted path of the argument, as the API names it. */
    readonly path: string,
    readonly reason: string,
    /** `shape`: no value of the kind. `meaning`: well formed, and still can't be done. */
    readonly kind: 'shape' | 'meaning' = 'shape',
  ) {
    super(`${path}: ${reason}`);
    this.name = path.startsWith('namespace') ? 'InvalidNamespaceError' : 'StoreError';
  }
}
