/** Statuses of a server that is away for now, or of the proxy before it: the same request may succeed later. */
export const UNREACHED: ReadonlySet<number> = new Set([502, 503, 504]);

/** Answer of the server to a request that it refused, or that failed. */
export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    readonly code: string | undefined,
    message: string,
    readonly requestId: string | undefined,
  ) {
    super(message);
    this.name = 'ApiFailure';
  }

  static async of(response: Response): Promise<ApiFailure> {
    return ApiFailure.from(response, await response.text());
  }

  static from(response: Response, text: string): ApiFailure {
    const requestId = response.headers.get('x-request-id') ?? undefined;
    const said = parse(text);
    const message = said?.detail ?? said?.message ?? (wordsOf(text) || `${response.status} ${response.statusText}`);
    return new ApiFailure(response.status, said?.code, message, requestId);
  }
}

function parse(text: string): { detail?: string; message?: string; code?: string } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An answer that is no JSON, as a message: the page of a proxy has none. */
const wordsOf = (text: string): string => (text.trimStart().startsWith('<') ? '' : text.trim());

/** The refusal that caused an error, also one of the SDK's client, which has the answer in its message. */
export function failureOf(error: unknown): ApiFailure | undefined {
  if (error instanceof ApiFailure) return error;
  const answer = error instanceof Error ? /^HTTP (\d+): ([\s\S]*)$/.exec(error.message) : null;
  if (!answer) return undefined;
  const [, status, text] = answer;
  const said = parse(text);
  const message = said?.detail ?? said?.message ?? (wordsOf(text) || `HTTP ${status}`);
  return new ApiFailure(Number(status), said?.code, message, undefined);
}

/** Message of any error: the server's own if there is one. */
export function messageOf(error: unknown): string {
  const failure = failureOf(error);
  if (failure) return failure.message;
  if (!(error instanceof Error)) return typeof error === 'string' ? error : JSON.stringify(error);
  return error.message;
}
