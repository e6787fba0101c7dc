/** A request that the store refuses, in the same words for API clients and graph code. */
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
