/** A JSON-RPC message, for the description of the API: the protocol's own library checks it. */
export const jsonRpcMessage = {
  type: 'object' as const,
  required: ['jsonrpc'],
  properties: {
    jsonrpc: { type: 'string' as const, enum: ['2.0'] },
    id: { oneOf: [{ type: 'string' as const }, { type: 'number' as const }, { type: 'null' as const }] },
    method: { type: 'string' as const },
    params: { type: 'object' as const },
    result: { type: 'object' as const },
    error: { type: 'object' as const },
  },
};
