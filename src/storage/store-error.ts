import { isNativeError } from 'node:util/types';
import { EndpointRefused } from './endpoint-policy';

/** A failure of a store, explained to the person who configured it. */
export interface StoreProblem {
  /** The store's own code, or the system's. */
  code: string;
  /** One sentence, without a full stop. */
  message: string;
  /** Advice for the user. */
  hint: string;
  /** Whether a retry can't help until the destination is changed. */
  isUserFault: boolean;
}

/** The one form in which a problem is written: sentence, code, hint. */
export function sentenceOf({ message, code, hint }: Pick<StoreProblem, 'message' | 'code' | 'hint'>): string {
  return `${message} (${code}). ${hint}`;
}

/** A failure of a store, explained. Its cause is the error of the store's client, which may hold more than users may see. */
export class StoreError extends Error {
  override readonly name = 'StoreError';

  constructor(
    readonly problem: StoreProblem,
    cause: unknown,
  ) {
    super(problem.message, { cause });
  }
}

/** A sentence and a hint. */
export type Words = [message: string, hint: string];

export const RETRIED = 'It is retried. If this persists, check the store.';

/** Codes of a system that can't reach an address; clients carry them in their own text, whatever wraps them. */
const UNREACHABLE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EPROTO)\b/;

/** Explains an endpoint that the policy refuses; undefined for any other error. */
export function explainRefusal(error: unknown): StoreProblem | undefined {
  const refused = causes(error).find((cause) => cause instanceof EndpointRefused);
  return (
    refused && {
      code: 'InvalidEndpoint',
      message: `Invalid endpoint: ${refused.message}`,
      hint: 'Check endpoint_url. The operator opens internal networks (GANTRY_EXPORT_ALLOW_CIDRS).',
      isUserFault: !refused.mayPass,
    }
  );
}

/** Explains an address that can't be reached; undefined for any other error. */
export function explainUnreachable(error: unknown, [message, hint]: Words): StoreProblem | undefined {
  const errno = causes(error)
    .map((cause) => UNREACHABLE.exec(`${(cause as NodeJS.ErrnoException).code ?? ''} ${cause.message}`)?.[1])
    .find((found) => found !== undefined);
  // A name that can't be resolved now may be resolved in a minute: at creation it is refused, in an export it's retried.
  return errno === undefined ? undefined : { code: errno, message, hint, isUserFault: false };
}

/** Explains an answer, or its absence, that no kind of store has words of its own for. */
export function explainAnswer(code: string, message: string, status: number | undefined): StoreProblem {
  const isClientFault = status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429;
  return {
    code,
    message: status ? `The store answered ${status}: ${message}` : `The store could not be reached: ${message}`,
    hint: isClientFault ? 'See what the store says about the request.' : RETRIED,
    isUserFault: isClientFault,
  };
}

/** Explains an error that isn't a store's answer, and that nothing is known of. */
export function explainUnknown(error: unknown): StoreProblem {
  const { name, message } = isNativeError(error) ? error : { name: 'Error', message: String(error) };
  return explainAnswer(name, message, undefined);
}

/** Explains what an object store, or the opening of one, threw; undefined for an error that came from elsewhere. */
export function storeProblemOf(error: unknown): StoreProblem | undefined {
  return causes(error).find((cause) => cause instanceof StoreError)?.problem;
}

/** Explains what an object store, or the opening of one, threw. What isn't known is taken for a fault that may pass. */
export function explainStoreError(error: unknown): StoreProblem {
  return storeProblemOf(error) ?? explainUnknown(error);
}

/** The error, what caused it, and what several attempts failed with. */
function causes(error: unknown, depth = 0): Error[] {
  if (!isNativeError(error) || depth > 5) return [];
  const { errors = [] } = error as Partial<AggregateError>;
  const several = errors.flatMap((one) => causes(one, depth + 1));
  return [error, ...several, ...causes(error.cause, depth + 1)];
}
