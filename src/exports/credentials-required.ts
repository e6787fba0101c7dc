/** A destination came without credentials, and those of the process are not for its bucket. */
export class CredentialsRequired extends Error {
  override readonly name = 'CredentialsRequired';

  constructor() {
    super('credentials are missing');
  }
}
