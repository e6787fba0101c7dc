/** The answer to a request that is refused or fails: a status, a code that stays the same between releases, and one sentence. */
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

  /** The body of the answer, for those that are JSON. */
  body(): { detail: string; code: string; errors?: FieldError[] } {
    const { detail, code, errors } = this;
    return { detail, code, ...(errors && { errors }) };
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

/** Maximum number of wrong fields that an answer names. */
const MAX_ERRORS = 100;

/** 422 for a body whose shape is wrong, with every field that is, up to a hundred. */
export function invalidRequest(issues: readonly ShapeIssue[]): ApiError {
  const errors = issues.slice(0, MAX_ERRORS).map(({ path = [], message }) => ({
    path: path.map((segment) => String(typeof segment === 'object' ? segment.key : segment)).join('.'),
    message,
  }));
  const detail = errors.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');
  return new ApiError(422, 'invalid_request', detail, { errors });
}

/** Issue of a schema, in the form of the Standard Schema specification. */
interface ShapeIssue {
  path?: readonly (PropertyKey | { key: PropertyKey })[];
  message: string;
}

/** 422 for a body that is no JSON, in the parser's words. */
export function invalidJson({ message }: Error): ApiError {
  return new ApiError(422, 'invalid_json', `Invalid JSON in request body: ${message}`, {
    errors: [{ path: '', message }],
  });
}
