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
    const message = said?.detail ?? said?.message ?? (text.trim() || `${response.status} ${response.statusText}`);
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

/** Message of any error: the server's own if there is one, also for errors that the SDK's client throws. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : JSON.stringify(error);
  const body = /^HTTP \d+: ([\s\S]*)$/.exec(error.message)?.[1];
  const said = body === undefined ? undefined : parse(body);
  return said?.detail ?? said?.message ?? body ?? error.message;
}
