import { fromJsonRpcErrorResponse, restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler } from '@a2a-js/sdk/server';
import { A2A_JSON } from '../http/bodies';
import type { RpcAnswer, RpcError, RpcOutcome } from './a2a-rpc.service';
import { a2aErrors } from './a2a.errors';

type Answered = Extract<RpcOutcome, { kind: 'answer' }>;

/** How answers are written in one of the protocol's bindings. */
export interface Binding {
  contentType: string;
  /** `body` is JSON; undefined where the answer has none. */
  toAnswer(outcome: Answered): { status: number; body?: string };
  /** One server-sent event. */
  toFrame(answer: RpcAnswer): string;
}

export const JSON_RPC: Binding = {
  contentType: 'application/json; charset=utf-8',
  toAnswer: ({ status, body }) => ({ status, body: JSON.stringify(body) }),
  toFrame: (answer) => `data: ${JSON.stringify(answer)}\n\n`,
};

/**
 * The HTTP+JSON binding: results and errors without JSON-RPC's envelope, and errors with a status.
 * @param success status of an answer that isn't an error
 * @see https://a2a-protocol.org/latest/specification/#11-httpjsonrest-protocol-binding
 */
export function restBinding(success: number): Binding {
  return {
    contentType: A2A_JSON,
    toAnswer: ({ status, body }) => {
      const { error, result } = body as RpcAnswer;
      if (!error) return success === 204 ? { status: success } : { status: success, body: JSON.stringify(result) };
      const shown = toRestError(error, status === 200 ? undefined : status);
      return { status: shown.error.code, body: JSON.stringify(shown) };
    },
    toFrame: ({ error, result }) =>
      error ? `event: error\ndata: ${JSON.stringify(toRestError(error))}\n\n` : `data: ${JSON.stringify(result)}\n\n`,
  };
}

/** Refusal of a version that the HTTP+JSON binding doesn't have. */
export function refusedVersion(asked: string): RpcOutcome {
  const error = JsonRpcTransportHandler.mapToJSONRPCError(a2aErrors.version(asked, ['1.0']));
  return { kind: 'answer', status: 200, body: { jsonrpc: '2.0', id: 0, error } };
}

/**
 * A google.rpc.Status, with the details that JSON-RPC has as `data`.
 * @param status HTTP status where the error's code doesn't decide it, as for an agent that doesn't exist
 */
function toRestError(error: RpcError, status?: number) {
  if (status !== undefined) return toRestErrorBody(new Error(error.message), status);
  const known = fromJsonRpcErrorResponse({ jsonrpc: '2.0', id: 0, error } as Parameters<
    typeof fromJsonRpcErrorResponse
  >[0]);
  const shown = toRestErrorBody(known, restStatusFor(known));
  if (Array.isArray(error.data)) shown.error.details = error.data as typeof shown.error.details;
  return shown;
}

/** Parameters of a method in a query, where every value is text. */
export function paramsOfQuery(query: Record<string, unknown>): Record<string, unknown> {
  const isBoolean = query.includeArtifacts === 'true' || query.includeArtifacts === 'false';
  return isBoolean ? { ...query, includeArtifacts: query.includeArtifacts === 'true' } : query;
}
