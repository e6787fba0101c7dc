/** What a client is told: a status, a stable code for logs and tests, and one sentence. */
export class ApiError extends Error {
  /** `text` answers with the bare sentence, as clients of the deployment API expect of a 404; all else is JSON. */
  readonly format: 'json' | 'text';
  readonly errors?: FieldError[];
  readonly headers?: Record<string, string>;

  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    options: {
      format?: 'json' | 'text';
      errors?: FieldError[];
      headers?: Record<string, string>;
      cause?: unknown;
    } = {},
  ) {
    super(detail, { cause: options.cause });
    this.name = 'ApiError';
    this.format = options.format ?? 'json';
    this.errors = options.errors;
    this.headers = options.headers;
  }
}

export interface FieldError {
  /** Dotted path of the field in the body, query or path; empty for the whole. */
  path: string;
  message: string;
  /** Where in the field's text, in characters from 0. */
  position?: number;
}

/** 422 for one field whose shape is right but whose value can't be. */
export function invalidField(path: string, message: string): ApiError {
  return new ApiError(422, 'invalid_request', `${path}: ${message}`, { errors: [{ path, message }] });
}
