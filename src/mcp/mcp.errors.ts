import { Logger } from '@nestjs/common';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

const logger = new Logger('Mcp');

/** What a client may know of an error: the SDK would show it the text of any. */
export function shownError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  logger.error({ err: error }, 'An MCP request failed unexpectedly');
  return new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
}
