/**
 * Why an export or a partition can't go on. `isFinal`: trying again can't help until somebody changes something. The
 * message is shown to the user, so it holds no secrets.
 */
export class ExportFailure extends Error {
  override readonly name = 'ExportFailure';

  constructor(
    message: string,
    readonly isFinal: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
