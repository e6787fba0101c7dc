import type { AuthUser } from '../../database/request-scope';
import {
  AUTH_EVENTS,
  type AuthAction,
  type AuthAnswer,
  type AuthFailure,
  type AuthQuestion,
  type AuthRequest,
  type AuthResource,
} from './protocol';

type Handler = (question: AuthQuestion & { event: string; permissions: string[] }) => unknown;

/** Fields of `new Auth()` of the public SDK, in any copy and version. */
interface HandlerCache {
  authenticate?: (request: Request) => unknown;
  callbacks?: Partial<Record<string, Handler>>;
}

/** A refusal with a status, thrown by the module or on its behalf. */
class Refusal extends Error {
  readonly headers = {};
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The user's Auth object: calls its handlers, and interprets their answers like the hosted server. */
export class AuthModuleHandlers {
  private readonly authenticateWith: (request: Request) => unknown;
  private readonly callbacks: Partial<Record<string, Handler>>;

  /** @throws when `exported` is no Auth object, or has no `authenticate` */
  constructor(exported: unknown) {
    if (typeof exported !== 'object' || exported === null || !('~handlerCache' in exported)) {
      throw new Error('is not an Auth of @langchain/langgraph-sdk/auth');
    }
    const { authenticate, callbacks = {} } = exported['~handlerCache'] as HandlerCache;
    if (!authenticate) throw new Error('has no authenticate handler');
    this.authenticateWith = authenticate;
    this.callbacks = callbacks;
  }

  /** Questions that no handler answers: they are refused. */
  get uncovered(): string[] {
    return AUTH_EVENTS.flatMap(([resource, actions]) =>
      actions.filter((action) => !this.handlerFor(resource, action)).map((action) => `${resource}:${action}`),
    );
  }

  /** Questions about the store that a handler for every kind of resource answers. */
  get generallyCoveredStore(): string[] {
    const [, actions] = AUTH_EVENTS.find(([resource]) => resource === 'store')!;
    return actions
      .filter(
        (action) =>
          this.handlerFor('store', action) && this.handlerFor('store', action) === this.generalHandlerFor(action),
      )
      .map((action) => `store:${action}`);
  }

  async authenticate({ method, url, headers }: AuthRequest): Promise<AuthUser> {
    const answer = await this.authenticateWith(new Request(url, { method, headers }));
    if (typeof answer === 'string') return userOf({ identity: answer });
    if (answer === null || answer === undefined || answer === false) throw new Refusal(401, 'Not authenticated');
    if (typeof answer === 'object' && 'identity' in answer && typeof answer.identity === 'string') {
      return userOf(answer as { identity: string });
    }
    throw new Error('authenticate returned neither a string nor an object with an identity');
  }

  /**
   * Returns the handler's filter and its changes to the value. Without a handler the answer is no, so that a forgotten action
   * isn't allowed.
   */
  async authorize({ resource, action, value, user }: AuthQuestion): Promise<AuthAnswer> {
    const event = `${resource}:${action}`;
    const handler = this.handlerFor(resource, action);
    if (!handler) throw new Refusal(403, `Forbidden: the custom auth has no handler for ${event}`);
    const answer = await handler({ event, resource, action, value, user, permissions: user.permissions });
    if (answer === false) throw new Refusal(403, 'Forbidden');
    const changed = plain(value);
    if (answer === undefined || answer === null || answer === true) return { value: changed };
    if (typeof answer !== 'object' || Array.isArray(answer)) {
      throw new Error(`the handler for ${event} returned neither a filter nor a boolean`);
    }
    const isGeneral = handler === this.generalHandlerFor(action);
    return { filter: plainFilter(answer), value: changed, ...(isGeneral && { isGeneral }) };
  }

  private handlerFor(resource: AuthResource, action: AuthAction): Handler | undefined {
    const own = this.callbacks[`${resource}:${action}`] ?? this.callbacks[resource];
    return own ?? this.generalHandlerFor(action);
  }

  /** The handler for every kind of resource, if there is one. */
  private generalHandlerFor(action: AuthAction): Handler | undefined {
    return this.callbacks[`*:${action}`] ?? this.callbacks['*'];
  }
}

/**
 * The part of a thrown error that clients may see. Errors of other libraries have statuses as well: one from 500 on is the
 * reason of a mistake, unless the module chose it.
 */
export function toFailure(error: unknown): AuthFailure {
  const { status, message, headers } = error as { status?: unknown; message?: unknown; headers?: unknown };
  if (typeof status === 'number' && status >= 400 && status < (isHttpException(error) ? 600 : 500)) {
    return {
      status,
      message: typeof message === 'string' && message !== '' ? message : 'Unauthorized',
      headers: Object.fromEntries(new Headers(headers as Record<string, string> | undefined)),
    };
  }
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/** Whether an error is an HTTPException, of any copy of the public SDK or of Hono, or of a class that extends it. */
function isHttpException(error: unknown): boolean {
  for (let kind: unknown = error; kind instanceof Object; kind = Object.getPrototypeOf(kind)) {
    if (kind.constructor.name === 'HTTPException') return true;
  }
  return false;
}

function userOf(answer: {
  identity: string;
  permissions?: unknown;
  display_name?: unknown;
  is_authenticated?: unknown;
}): AuthUser {
  const { identity, permissions, display_name: name, is_authenticated: authenticated } = answer;
  return {
    ...plain(answer),
    identity,
    permissions: Array.isArray(permissions) ? permissions.map(String) : [],
    display_name: typeof name === 'string' ? name : identity,
    is_authenticated: typeof authenticated === 'boolean' ? authenticated : true,
  };
}

/**
 * JSON has no `undefined`: a key with such a value would be lost, and what remained of the filter would allow more than the
 * handler says.
 * @throws {Error} that names the key
 */
function plainFilter(filter: object): unknown {
  const text = JSON.stringify(filter, (key, value: unknown) => {
    if (value === undefined || typeof value === 'function' || typeof value === 'symbol')
      throw new Error(`the auth filter has no value for ${key}`);
    return value;
  });
  return JSON.parse(text);
}

/** Both are sent to another process and stored, as JSON. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
