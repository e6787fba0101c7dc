import type { AuthUser } from '../../database/request-scope';
import type { FromUserModule, ToUserModule } from '../../graphs/host/user-module-process';

/** Resource of a handler, with the names of the public SDK's Auth. */
export type AuthResource = 'assistants' | 'threads' | 'crons' | 'store';
export type AuthAction =
  'create' | 'read' | 'update' | 'delete' | 'search' | 'create_run' | 'put' | 'get' | 'list_namespaces';

const CRUD = ['create', 'read', 'update', 'delete', 'search'] as const;
/** Every question that may be asked: a pair without a handler is refused. */
export const AUTH_EVENTS: readonly (readonly [AuthResource, readonly AuthAction[]])[] = [
  ['assistants', CRUD],
  ['threads', [...CRUD, 'create_run']],
  ['crons', CRUD],
  ['store', ['put', 'get', 'search', 'delete', 'list_namespaces']],
];

/** A request as `authenticate` gets it: without its body. */
export interface AuthRequest {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  /** Parameters of the route by name, for handlers in Python. */
  pathParams?: Record<string, string>;
}

export interface AuthQuestion {
  resource: AuthResource;
  action: AuthAction;
  value: Record<string, unknown>;
  user: AuthUser;
}

export interface AuthAnswer {
  /** The filter that the handler returned, if any. */
  filter?: unknown;
  /** Whether it came from a handler for every kind of resource, such as `*`. */
  isGeneral?: boolean;
  /** The value after the handler's changes. */
  value: Record<string, unknown>;
}

/** Reason for a missing answer. Without a status it is an error of the module, which clients must not see. */
export interface AuthFailure {
  status?: number;
  message: string;
  headers?: Record<string, string>;
}

/** Events of AUTH_EVENTS for which the module has no handler, and those of the store that its handler for `*` answers. */
export interface AuthCoverage {
  uncovered: string[];
  generallyCoveredStore: string[];
}

export type AuthModuleQuestion =
  { type: 'authenticate'; request: AuthRequest } | { type: 'authorize'; question: AuthQuestion };

export type ToAuthProcess = ToUserModule<AuthModuleQuestion>;
export type FromAuthProcess = FromUserModule<AuthCoverage, AuthFailure>;
