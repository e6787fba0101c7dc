/** A destination came without credentials, and those of the process are not for its bucket. */
export class CredentialsRequired extends Error {
  override readonly name = 'CredentialsRequired';

  constructor() {
    super('credentials are missing');
  }
}

/** A destination names a role that this process's own identity is not for, or an endpoint beside it. */
export class RoleNotAllowed extends Error {
  override readonly name = 'RoleNotAllowed';

  constructor() {
    super('the role is not one that the server assumes');
  }
}

/** The token service has answered, and gives no credentials for the role. */
export class RoleRefused extends Error {
  override readonly name = 'RoleRefused';

  constructor(cause: unknown) {
    super('the role could not be assumed', { cause });
  }
}

/** The token service has refused the process itself, whatever the role is: it limits requests, or the process's own identity has expired. */
export class RoleUnavailable extends Error {
  override readonly name = 'RoleUnavailable';

  constructor(cause: unknown) {
    super('the role could not be assumed now', { cause });
  }
}
